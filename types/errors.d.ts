// The failures. What each code means and what to do about it: docs/errors.md.

import type { RpcError } from '../protocol.js';

/** What the runtime was doing when it failed. */
export type AcpErrorPhase = 'spawn' | 'initialize' | 'authenticate' | 'session' | 'prompt' | 'teardown';

/** The `code` of a {@link PathJailError}. */
export type PathJailErrorCode = 'path_outside_cwd' | 'denied_secret' | 'denied_git' | 'invalid_path';

/**
 * The stable reason of a failure. One failure has one spelling: where a class existed before this package, its code is
 * the one that callers of that class compare (`acp_auth_required`, `ACP_MISSING_ENV`).
 */
export type AcpErrorCode =
  | 'missing_binary'
  | 'spawn_error'
  | 'ACP_MISSING_ENV'
  | 'handshake_timeout'
  | 'incompatible_protocol'
  | 'acp_auth_required'
  | 'agent_exited'
  | 'connection_closed'
  | 'agent_error'
  | 'malformed_response'
  | 'invalid_argument'
  | 'unsupported_capability'
  | 'timeout'
  | 'turn_stalled'
  | 'turn_in_progress'
  | 'session_already_open'
  | 'session_unusable'
  | 'aborted'
  | 'client_closed'
  | 'abnormal_stop'
  | 'sign_in_required'
  | 'internal_error'
  | 'content_too_large'
  | 'write_denied'
  | PathJailErrorCode
  | SpawnErrorCode;

/** The system's own codes, which `connect()` of the Fusion-shaped API reports as Node's `child_process` does. */
export type SpawnErrorCode = 'ENOENT' | 'EACCES' | 'ENOTDIR' | 'ENOEXEC' | 'EPERM' | 'E2BIG' | 'EAGAIN' | 'EMFILE' | 'ENOMEM';

/** How a process ended. Both are `null` when the system did not tell. */
export interface ExitFacts {
  /** The exit code, when the process exited by itself. */
  readonly exitCode: number | null;
  /** The name of the ending signal (`SIGKILL`), when a signal ended it. */
  readonly signal: string | null;
}

/** What an {@link AcpError} carries beside its code and message. */
export interface AcpErrorInit {
  phase?: AcpErrorPhase;
  rpc?: RpcError;
  exit?: ExitFacts;
  stderrTail?: string;
  /** Default: `false`. */
  retryable?: boolean;
  /** Default: `false`. */
  promptMayHaveBeenSent?: boolean;
  partialText?: string;
  extra?: Readonly<Record<string, unknown>>;
  cause?: unknown;
  /** Replaces the message of a class that makes its own. */
  message?: string;
}

/** A failure of the runtime or of the agent. Decide by `code`; the message is for people. */
export class AcpError extends Error {
  constructor(code: AcpErrorCode, message: string, init?: AcpErrorInit);
  /** The stable reason. */
  readonly code: AcpErrorCode;
  /** What the runtime was doing, where that is known. */
  readonly phase?: AcpErrorPhase;
  /** The error object that the agent answered with, text bounded and redacted; of its file request: what it is answered. */
  readonly rpc?: RpcError;
  /** How the agent's process ended, where it did. */
  readonly exit?: ExitFacts;
  /** The end of the agent's stderr, redacted. */
  readonly stderrTail?: string;
  /** Whether trying again without a change can help, with a new client where the agent is gone. */
  readonly retryable: boolean;
  /** Whether the agent may have seen the prompt. `false`: it certainly has not. */
  readonly promptMayHaveBeenSent: boolean;
  /** The message text that had arrived when the turn failed. */
  readonly partialText?: string;
  /** Machine-readable extras of this code; `docs/errors.md` lists them. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The agent could not be started. Thrown by `connect()`, shaped like the error of Node's `spawn`. */
export class AcpSpawnError extends AcpError {
  constructor(code: SpawnErrorCode, path: string, init?: AcpErrorInit);
  readonly code: SpawnErrorCode;
  /** `spawn <path>` */
  readonly syscall: string;
  /** The binary that was asked for. */
  readonly path: string;
}

/** The agent negotiated a protocol version that this client does not speak. */
export class IncompatibleProtocolError extends AcpError {
  /** @param expected default: 1 */
  constructor(agentProtocolVersion: number, expected?: number, init?: AcpErrorInit);
  readonly code: 'incompatible_protocol';
  /** What the agent answered; not a number when the agent sent something else. */
  readonly agentProtocolVersion: number;
  readonly expected: number;
}

/** `initialize` was not answered in time. */
export class HandshakeTimeoutError extends AcpError {
  /** @param timeoutMs milliseconds */
  constructor(timeoutMs: number, init?: AcpErrorInit);
  readonly code: 'handshake_timeout';
  /** The limit, in milliseconds. */
  readonly timeoutMs: number;
}

/** The agent wants authentication first, or advertised no acceptable method. */
export class AcpAuthRequiredError extends AcpError {
  constructor(availableMethodIds: readonly string[], init?: AcpErrorInit);
  readonly code: 'acp_auth_required';
  /** The methods that the agent advertised. */
  readonly availableMethodIds: string[];
}

/** A required variable is absent from the environment built for the agent. */
export class MissingAcpEnvError extends AcpError {
  constructor(missingKeys: readonly string[], init?: AcpErrorInit);
  readonly code: 'ACP_MISSING_ENV';
  /** Names only; values are never shown. */
  readonly missingKeys: string[];
}

/** The agent wanted to write more than the limit. */
export class FsContentTooLargeError extends AcpError {
  /** @param limitBytes bytes */
  constructor(limitBytes: number);
  readonly code: 'content_too_large';
  /** The limit, in bytes. */
  readonly limitBytes: number;
}

/** The policy, or the person asked, refused a write. */
export class FsWriteDeniedError extends AcpError {
  constructor(message: string);
  readonly code: 'write_denied';
}

/** A path that the agent may not touch. */
export class PathJailError extends AcpError {
  constructor(code: PathJailErrorCode, message: string);
  readonly code: PathJailErrorCode;
}

export {};
