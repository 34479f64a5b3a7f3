// The Fusion-shaped contracts: what an engine hands in and gets back. All structural, so no engine package is needed.

import type {
  ClientNotifications, ClientRequests, ContentBlock, PermissionOption, RequestPermissionResponse, SessionUpdate,
  ToolCallUpdate,
} from '../protocol.js';
import type { AcpConnection } from './connection.js';
import type { AbortSignalLike } from './host.js';

/** The host's callbacks for a turn. A throwing callback is ignored. */
export interface AcpCallbacks {
  onText?(text: string): void;
  onThinking?(text: string): void;
  onToolStart?(toolName: string, args?: unknown): void;
  onToolEnd?(toolName: string, isError: boolean, result?: unknown): void;
}

export interface AcpNameValue {
  name: string;
  value: string;
}

export interface AcpMcpServerStdio {
  name: string;
  command: string;
  args: string[];
  env: AcpNameValue[];
}

export interface AcpMcpServerHttp {
  type: 'http';
  name: string;
  url: string;
  headers: AcpNameValue[];
}

export interface AcpMcpServerSse {
  type: 'sse';
  name: string;
  url: string;
  headers: AcpNameValue[];
}

export type AcpMcpServer = AcpMcpServerStdio | AcpMcpServerHttp | AcpMcpServerSse;

/** An engine's own description of an MCP server; `toAcpMcpServers` turns it into the protocol's. */
export interface ResolvedMcpServerDefinition {
  name?: string;
  enabled?: boolean;
  transport?: 'stdio' | 'http' | 'streamable-http' | 'sse' | (string & {});
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

/** What a policy says about a category. */
export type GateDisposition = 'allow' | 'block' | 'require-approval';

/** The categories that policies are keyed by. */
export type FusionCategory =
  | 'git_write'
  | 'file_write_delete'
  | 'command_execution'
  | 'network_api'
  | 'task_agent_mutation';

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'completed';

export interface ApprovalRecord {
  id: string;
  status: ApprovalStatus;
}

/** What an approval is about. */
export interface ApprovalDecision {
  disposition: 'require-approval';
  category: FusionCategory;
  toolName: string;
  approvalDedupeKey: string;
}

/** The engine's gate: a policy, and closures to ask a person. What is absent denies. */
export interface PermissionGate {
  permissionPolicy?: { rules?: Record<string, GateDisposition> };
  createApprovalRequest?(decision: ApprovalDecision, args: Record<string, unknown>): unknown;
  findApprovalByDedupeKey?(dedupeKey: string): ApprovalRecord | null | Promise<ApprovalRecord | null>;
  pauseForApproval?(info: { approvalRequestId: string; decision: ApprovalDecision }): void | Promise<void>;
  markApprovalCompleted?(approvalRequestId: string): void | Promise<void>;
}

/** The options of `createSession` that this runtime reads; an engine may pass more. */
export interface AgentRuntimeOptions extends AcpCallbacks {
  cwd: string;
  systemPrompt: string;
  tools?: 'coding' | 'readonly';
  /** Tools of the engine with an `execute`; offered to the agent over a loopback MCP server. */
  customTools?: unknown;
  defaultProvider?: string;
  defaultModelId?: string;
  defaultThinkingLevel?: string;
  actionGateContext?: PermissionGate;
  mcpServers?: Array<AcpMcpServer | ResolvedMcpServerDefinition>;
  /** `_meta` of `session/new`. */
  sessionMeta?: Record<string, unknown>;
  /** Laid over the host's environment before the allow list is applied. */
  taskEnv?: Record<string, string | undefined>;
  /** Awaited before the agent is started; when it rejects, so does `createSession`. */
  beforeSpawnSession?(): void | Promise<void>;
  runtimeContext?: {
    sessionPurpose?: string;
    toolMode?: string;
    customToolNames?: string[];
    requestedSkillNames?: string[];
  };
}

/** What a session's subscribers receive. */
export type AgentSessionEvent =
  | {
    type: 'message_update';
    assistantMessageEvent: { type: 'text_delta' | 'thinking_delta'; contentIndex: number; delta: string };
  }
  | { type: 'tool_execution_start'; toolName: string; args?: unknown }
  | { type: 'tool_execution_end'; toolName: string; isError: boolean; result?: unknown };

export interface AgentSessionMessage {
  role: 'user' | 'assistant';
  content: Array<{ type: 'text'; text: string }>;
}

/** The state of one session of the adapter. */
export interface AcpAgentSession {
  model: string;
  systemPrompt: string;
  /** Empty until the session exists. */
  sessionId: string;
  cwd: string;
  lastModelDescription: string;
  callbacks: AcpCallbacks;
  gate?: PermissionGate;
  connection?: AcpConnection;
  resetTurn?(): void;
  disposeBridge?(): Promise<void>;
  /** Settles when a dispose that has begun is through. */
  readonly disposePromise?: Promise<void> | undefined;
  /** Set when the loopback MCP server for `customTools` could not be started; the session works without it. */
  fusionToolBridgeError?: { reasonCode: 'mcp-schema-server-missing' | 'bridge-start-failed' } | undefined;
  /** What was said, and why the last turn failed. */
  readonly state: { messages: AgentSessionMessage[]; errorMessage?: string | undefined };
  /** `state.messages`. */
  readonly messages: AgentSessionMessage[];
  /** The token counts of the last turn that reported any. */
  readonly usage?: Record<string, number> | undefined;
  /** What was asked for and could not be had: MCP servers, a model, a thinking level, images. */
  readonly notices: string[];
  /** `promptWithFallback` of the adapter. */
  prompt(text: string, options?: unknown): Promise<AgentPromptResult>;
  /** Cancels the running turn; resolves when it has ended, within 2,000 ms. */
  abort(): Promise<void>;
  /** Always rejects with `unsupported_capability`: the protocol takes no message into a running turn. */
  steer(message?: unknown): Promise<never>;
  /** Subscribers run before the callbacks; what they throw is ignored. Returns the unsubscribe function. */
  subscribe(listener: (event: AgentSessionEvent) => void): () => void;
  /** Kills the agent. Idempotent. */
  dispose(): void;
}

/** Any session that an `AgentRuntime` made. */
export type AgentSession = AcpAgentSession;

export interface AgentPromptResult {
  stopReason?: string;
  /** A limit of this package cut the turn's text; see `AskSuccess.truncated`. Absent otherwise. */
  truncated?: true;
}

export interface AgentSessionResult<S = AgentSession> {
  session: S;
  sessionFile?: string;
}

/** An engine's runtime contract. `S` is the runtime's own session. */
export interface AgentRuntime<S = AgentSession> {
  readonly id: string;
  readonly name: string;
  createSession(options: AgentRuntimeOptions): Promise<AgentSessionResult<S>>;
  promptWithFallback(session: S, prompt: string, options?: unknown): Promise<void | AgentPromptResult>;
  describeModel(session: S): string;
  dispose?(session: S): Promise<void>;
}

/** Drives any ACP agent for an engine. */
export class AcpRuntimeAdapter implements AgentRuntime {
  /** @param settings as `resolveCliSettings` reads them */
  constructor(settings?: Record<string, unknown>);
  /** `acp`; the preset's own id with `acpPreset`. */
  readonly id: string;
  /** `ACP Runtime`; the preset's own name with `acpPreset`. */
  readonly name: string;
  createSession(options: AgentRuntimeOptions): Promise<AgentSessionResult>;
  /** @param options `images` are sent along */
  promptWithFallback(session: AgentSession, prompt: string, options?: unknown): Promise<AgentPromptResult>;
  describeModel(session: AgentSession): string;
  /** Cancels (at most 2,000 ms), ends the tool bridge, kills. Idempotent. */
  dispose(session: AgentSession): Promise<void>;
}

// --- Permission floor ------------------------------------------------------------------------------------------------

/** What `classifyToolKind` answers for a kind that is not understood. */
export const DENY: 'deny';

export interface ResolvePermissionOptions {
  /** `true`: a policy's `allow` needs no approval, although the agent is not trusted. Default: `false`. */
  allowUnrestricted?: boolean;
  /** Aborts when nobody waits for the decision any more: it is `deny`, and the next question of its key may be asked. */
  signal?: AbortSignalLike;
}

/** What a person is asked. */
export interface ApprovalQuestion {
  category: FusionCategory;
  toolName: string;
  /** By which the host finds the approval again. Of one key one question is asked at a time. */
  dedupeKey: string;
  args?: Record<string, unknown>;
  /** As in {@link ResolvePermissionOptions}. */
  signal?: AbortSignalLike;
}

export function classifyToolKind(kind: string | null | undefined): FusionCategory | 'exempt' | 'deny';

/** Only ever chooses `allow_once` or `reject_once`; no `optionId` means `cancelled`. */
export function selectOption(decision: 'allow' | 'deny', options: readonly PermissionOption[] | null | undefined):
  { decision: 'allow' | 'deny'; optionId?: string };

/** The policy's plain word for a category. */
export function dispositionFor(category: FusionCategory | 'exempt', gate: PermissionGate): GateDisposition;

/** The policy's word for an untrusted agent: `allow` asks, unless unrestricted. */
export function effectiveDisposition(
  category: FusionCategory | 'exempt', gate: PermissionGate, options?: ResolvePermissionOptions,
): GateDisposition;

/** Asks a person. Never rejects: what goes wrong denies. */
export function runApprovalForCategory(gate: PermissionGate, request: ApprovalQuestion): Promise<'allow' | 'deny'>;

/** The whole floor under a `session/request_permission`. Never rejects. */
export function resolvePermission(
  toolCall: ToolCallUpdate,
  options: readonly PermissionOption[],
  gate: PermissionGate | undefined,
  permissionOptions?: ResolvePermissionOptions,
): Promise<RequestPermissionResponse>;

// --- Event bridge ----------------------------------------------------------------------------------------------------

/** 5,000,000 UTF-16 code units of text and thinking per turn. */
export const PER_TURN_OUTPUT_CAP_CHARS: 5_000_000;
/** 64,000 UTF-16 code units per chunk. */
export const PER_CHUNK_CAP_CHARS: 64_000;
/** 1,000 tool calls are tracked; the least recently used one is forgotten first. */
export const TOOL_CALL_MAP_CAP: 1000;
/** 100 entries of a plan are shown. */
export const MAX_PLAN_ENTRIES: 100;

export interface EventBridge {
  /** Never throws. Unknown updates are ignored. */
  handleSessionUpdate(update: SessionUpdate | { sessionUpdate: string }): void;
  /** Starts a new turn: budgets and tracked tool calls begin anew. */
  reset(): void;
}

/** Turns the protocol's updates into bounded, sanitised callbacks. */
export function createEventBridge(callbacks: AcpCallbacks): EventBridge;

/** The methods with which a client answers an agent. */
export interface AcpClientHandler {
  sessionUpdate(params: ClientNotifications['session/update']): Promise<void>;
  requestPermission(params: ClientRequests['session/request_permission']['params']): Promise<RequestPermissionResponse>;
  /** Gets the agent's parameters as they came: confining the path is its own task. `createFsHandlers` makes one that does. */
  readTextFile?(params: ClientRequests['fs/read_text_file']['params']):
    Promise<ClientRequests['fs/read_text_file']['result']>;
  writeTextFile?(params: ClientRequests['fs/write_text_file']['params']):
    Promise<ClientRequests['fs/write_text_file']['result']>;
  extMethod?(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  extNotification?(method: string, params: Record<string, unknown>): Promise<void>;
}

export interface BridgingClientHandler {
  handler: AcpClientHandler;
  /** Answers every open permission question, and every later one, with `cancelled`. Idempotent. */
  cancelPending(): void;
  resetTurn(): void;
}

export interface FsHandlerBuildOptions {
  cwd: string;
  allowRead: boolean;
  allowWrite: boolean;
}

export function createBridgingClientHandler(
  callbacks: AcpCallbacks,
  gate?: PermissionGate,
  fsOptions?: FsHandlerBuildOptions,
  permissionOptions?: ResolvePermissionOptions,
): BridgingClientHandler;

// --- Files -----------------------------------------------------------------------------------------------------------

/** 5 MiB. */
export const DEFAULT_READ_MAX_BYTES: 5_242_880;
/** 5 MiB. */
export const DEFAULT_WRITE_MAX_BYTES: 5_242_880;

export interface FsHandlerOptions extends FsHandlerBuildOptions {
  gate?: PermissionGate;
  allowUnrestricted?: boolean;
  /** Bytes. Default: `DEFAULT_READ_MAX_BYTES`. */
  readMaxBytes?: number;
  /** Bytes. Default: `DEFAULT_WRITE_MAX_BYTES`. */
  writeMaxBytes?: number;
}

/** A handler that is not allowed is absent. */
export interface FsHandlers {
  readTextFile?(params: { path: string; line?: number | null; limit?: number | null }): Promise<{ content: string }>;
  writeTextFile?(params: { path: string; content: string }): Promise<{}>;
}

export function createFsHandlers(options: FsHandlerOptions): FsHandlers;

/** @param line 1-based @param limit lines @param maxBytes bytes of the result */
export function applyReadWindow(
  content: string, line: number | null | undefined, limit: number | null | undefined, maxBytes: number,
): string;

/**
 * Resolves a path that the agent asked for.
 *
 * @returns the absolute path, links resolved
 * @throws {import('./errors.js').PathJailError}
 */
export function assertPathWithinCwd(requested: string, cwd: string): Promise<string>;

export function isSecretPath(path: string): boolean;
export function isGitInternal(path: string): boolean;

// --- Text ------------------------------------------------------------------------------------------------------------

/** 256 UTF-16 code units. */
export const DEFAULT_IDENTIFIER_MAX: 256;
export const TRUNCATION_MARKER: '…[truncated]';

/** Anything but a string becomes `''`. */
export function stripControlSequences(text: unknown): string;
/** @param max UTF-16 code units, the marker included */
export function boundString(text: unknown, max: number): string;
/** @param max UTF-16 code units; default: `DEFAULT_IDENTIFIER_MAX` */
export function boundIdentifier(id: unknown, max?: number): string;
/** Replaces what looks like a secret with `[REDACTED]`. */
export function redactSecrets(text: string): string;
export function toolDisplayName(tool: { title?: string | null; kind?: string | null }): string;
/** Anything but a plain object becomes `{}`. */
export function normalizeToolArgs(args: unknown): Record<string, unknown>;

// --- Prompt ----------------------------------------------------------------------------------------------------------

export interface PromptImage {
  /** Base64. */
  data: string;
  mimeType: string;
  uri?: string;
}

export interface BuildPromptOptions {
  images?: PromptImage[];
}

/** Text first, unless it is only whitespace, then the images. */
export function buildPromptBlocks(prompt: string, options?: BuildPromptOptions): ContentBlock[];
export function extractPromptImagesFromOptions(options: unknown): PromptImage[] | undefined;
/** Accepts the protocol's shape and the engine's; drops what is disabled or incomplete. */
export function toAcpMcpServers(servers: unknown): AcpMcpServer[];

export {};
