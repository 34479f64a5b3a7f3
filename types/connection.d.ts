// The Fusion-shaped connection: one process, one `conn` with the protocol's methods.

import type {
  AgentCapabilities, AgentNotifications, AgentRequests, ContentBlock, SessionModeState, StopReason,
} from '../protocol.js';
import type { AcpClientHandler } from './fusion.js';
import type { EnvironmentLike } from './host.js';

type Call<M extends keyof AgentRequests> = (params: AgentRequests[M]['params']) => Promise<AgentRequests[M]['result']>;

/** The methods of a connection. They reject with what the agent answered. */
export interface AcpConnectionMethods {
  newSession: Call<'session/new'>;
  loadSession: Call<'session/load'>;
  prompt: Call<'session/prompt'>;
  authenticate: Call<'authenticate'>;
  cancel(params: AgentNotifications['session/cancel']): Promise<void>;
  extMethod(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  extNotification(method: string, params: Record<string, unknown>): Promise<void>;
}

/** The part of Node's `ChildProcess` that a connection shows of its agent. */
export interface AgentChildProcess {
  readonly pid?: number | undefined;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  /** Any signal ends the whole process tree. */
  kill(signal?: string | number): boolean;
  on(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
  once(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
}

export interface AcpConnection {
  conn: AcpConnectionMethods;
  child: AgentChildProcess;
  agentCapabilities?: AgentCapabilities;
  authMethods: Array<{ id: string }>;
  /** The end of the agent's stderr so far, redacted. */
  stderr(): string;
  /** Kills the process tree. Idempotent. */
  dispose(): void;
}

export interface AuthenticateAcpOptions {
  preferMethods?: string[];
  methodId?: string;
  /** Default: `{ headless: true }`. */
  meta?: Record<string, unknown>;
  /** Reject when no method matches. Default: `false`. */
  require?: boolean;
}

export interface ConnectOptions {
  binaryPath: string;
  args: string[];
  cwd: string;
  /** Exactly the agent's environment. */
  env: EnvironmentLike;
  /**
   * Default: ignores updates, answers permission questions with `cancelled`. Its `readTextFile` and `writeTextFile` serve
   * what `advertiseFs` offers, by their own rules; without the first the runtime reads below the session's directory,
   * without the second nothing is written.
   */
  clientHandler?: AcpClientHandler;
  advertiseFs: { read: boolean; write: boolean };
  /** Milliseconds. Default: `DEFAULT_INITIALIZE_TIMEOUT_MS`. */
  initializeTimeoutMs?: number;
  authenticate?: AuthenticateAcpOptions;
}

/** 30 seconds. */
export const DEFAULT_INITIALIZE_TIMEOUT_MS: 30_000;

/**
 * Starts an agent and initializes.
 *
 * @throws {import('./errors.js').AcpSpawnError} `code` is the system's, `ENOENT` for a missing binary
 * @throws {import('./errors.js').AcpError} with the process tree already gone
 */
export function connect(options: ConnectOptions): Promise<AcpConnection>;

export interface NewAcpSessionResult {
  sessionId: string;
  modes?: SessionModeState;
}

/** A connection, as far as a helper looks at it; a test's stand-in fits. */
export interface ConnectionWith<M extends keyof AcpConnectionMethods> {
  conn: { [K in M]: AcpConnectionMethods[K] | ((params: never) => Promise<unknown>) };
}

export function newAcpSession(
  connection: ConnectionWith<'newSession'>,
  options: { cwd: string; mcpServers?: AgentRequests['session/new']['params']['mcpServers']; meta?: Record<string, unknown> },
): Promise<NewAcpSessionResult>;

/** `session/load` where the agent advertised it, otherwise a new session. */
export function loadAcpSession(
  connection: ConnectionWith<'newSession' | 'loadSession'> & { agentCapabilities?: { loadSession?: boolean } },
  options: { sessionId: string; cwd: string },
): Promise<NewAcpSessionResult>;

/** Rejects with an `Error` whose message is `describeAcpTurnError`'s and whose `cause` is the original. */
export function promptAcpSession(
  connection: ConnectionWith<'prompt'>, sessionId: string, blocks: ContentBlock[],
): Promise<StopReason | (string & {})>;

/** Waits at most 2,000 ms; never rejects. */
export function cancelAcpSession(connection: ConnectionWith<'cancel'>, sessionId: string): Promise<void>;

/** @returns the method used; `undefined` when none matched and none is required */
export function authenticateAcpConnection(
  connection: ConnectionWith<'authenticate'> & { authMethods: ReadonlyArray<{ id: string }> },
  options: AuthenticateAcpOptions,
): Promise<{ methodId: string } | undefined>;

export interface AcpTurnErrorDetail {
  message: string;
  code?: number;
  data?: unknown;
  retryable: boolean;
}

export function inspectAcpTurnError(error: unknown): AcpTurnErrorDetail;
/** `<message> (acp rpc code <code>[, retryable])[ [data: <at most 500 characters>]]` */
export function describeAcpTurnError(error: unknown): string;

export interface BuildSpawnEnvOptions {
  /** Names that the result must have. */
  required?: readonly string[];
  /** Default: `process.env`. */
  sourceEnv?: EnvironmentLike;
}

/**
 * Copies the allowed names, nothing else.
 *
 * @throws {import('./errors.js').MissingAcpEnvError}
 */
export function buildSpawnEnv(allowList: readonly string[], options?: BuildSpawnEnvOptions): Record<string, string>;

/**
 * Kills every process tree of this host's agents, synchronously. What waits for one of them rejects with `client_closed`.
 * Launches, asks and probes that were asked for before it and have no process yet start none any more.
 * Runs by itself when the host exits.
 */
export function killAllProcesses(): void;
/** How many agents of this host run. */
export function activeProcessCount(): number;

export {};
