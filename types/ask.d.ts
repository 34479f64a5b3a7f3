// One-shot asks and the validator on top of them.

import type { AgentRuntime } from './fusion.js';

export interface AskAcpOnceOptions {
  prompt: string;
  cwd: string;
  model?: string;
  /** Default: `''`. */
  systemPrompt?: string;
  /** Milliseconds for the turn; 0 and `Infinity` set no limit. Default: none but that of the adapter's `acpIdleTimeoutMs`. */
  timeoutMs?: number;
  /** Look for JSON in the reply; the last object becomes `parsed`. Default: `false`. */
  recoverJson?: boolean;
}

/**
 * Which part failed. `turn_failed` includes a reply that is nothing but a notice to sign in; `timeout` includes an agent
 * that fell silent. `error.code` tells them apart. `dispose_failed` is never returned.
 */
export type AskFailureReason =
  | 'create_session_failed'
  | 'turn_failed'
  | 'timeout'
  | 'abnormal_stop'
  | 'dispose_failed';

export interface AskSuccess {
  ok: true;
  text: string;
  /** Absent when nothing was recovered. */
  parsed?: unknown;
  stopReason?: string;
  /**
   * The text is not all that the agent said: a limit of this package cut it. Then `parsed` is absent, since the last object
   * of the text need not be the last of the answer. Absent otherwise.
   */
  truncated?: true;
}

export interface AskFailure {
  ok: false;
  reason: AskFailureReason;
  message: string;
  text?: string;
  stopReason?: string;
  /**
   * What it failed of: an `AcpError` from this package's adapter, with a code, stderr and the agent's own error. Not
   * enumerable, so the object compares and serialises without it. Absent where there is no error, such as after
   * `timeoutMs` with another runtime.
   */
  readonly error?: unknown;
}

export type AskAcpOnceResult = AskSuccess | AskFailure;

/**
 * Creates a session, runs one turn, disposes. Never rejects: with arguments that are none, the answer is a
 * `create_session_failed` whose `error.code` is `invalid_argument`.
 */
export function askAcpOnce<S>(runtime: AgentRuntime<S>, options: AskAcpOnceOptions): Promise<AskAcpOnceResult>;

/**
 * Whether a whole reply is nothing but a notice to sign in (`Not logged in · Please run /login`), which some agents give as
 * their answer. An answer that quotes or mentions one is none. An ask looks by itself.
 */
export function isSignInNotice(reply: unknown): boolean;

/** The JSON values found in prose, in their order. */
export function extractJsonObjects(output: string): unknown[];

export type VerdictStatus = 'pass' | 'fail' | 'blocked' | 'error';

export interface ValidatorAssertion {
  assertionId: string;
  passed: boolean;
  message?: string;
}

export interface ValidatorVerdict {
  status: VerdictStatus;
  assertions: ValidatorAssertion[];
  summary: string;
  blockedReason?: string;
}

/** @returns `undefined` for a word that is not a verdict */
export function normalizeVerdictToken(token: unknown): VerdictStatus | undefined;
/** Never `pass`. */
export function inferVerdictFromProse(text: string): 'fail' | 'blocked' | undefined;
export function mapParsedToVerdict(parsed: unknown, text: string): ValidatorVerdict;

export interface RunCliAgentValidationOptions {
  prompt: string;
  cwd: string;
  /** Of these, `model` (else `acpModel`) is the model to ask for. */
  settings?: Record<string, unknown>;
  /** Default: to check strictly, and to end with a verdict in JSON. */
  systemPrompt?: string;
  /** Milliseconds. Default: no limit but that of the adapter's `acpIdleTimeoutMs`. */
  timeoutMs?: number;
}

/** Asks, and maps the reply to a verdict. Never rejects. */
export function runCliAgentValidation<S>(
  runtime: AgentRuntime<S>, options: RunCliAgentValidationOptions,
): Promise<ValidatorVerdict>;

export {};
