// Readiness: the handshake itself.

import type { AgentCapabilities, AuthMethod, Implementation } from '../protocol.js';
import type { AcpError } from './errors.js';
import type { EnvironmentLike } from './host.js';

export type AcpProbeReason =
  | 'ok'
  | 'missing_binary'
  | 'spawn_error'
  | 'handshake_timeout'
  | 'incompatible_protocol'
  | 'unauthenticated';

export interface AcpProbeStatus {
  ok: boolean;
  reason: AcpProbeReason;
  detail?: string;
  protocolVersion?: number;
  /** Whether the agent advertised any way to authenticate. It may be signed in all the same; a `deep` probe tells. */
  authRequired?: boolean;

  // What follows is not enumerable, so the object compares and serialises without it.

  /** What the agent said of itself in `initialize`. Absent where the handshake did not complete. */
  readonly agent?: ProbedAgent;
  /** How long the probe took, in milliseconds, without the time to end the agent. Absent where an argument is wrong. */
  readonly elapsedMs?: number;
  /** The end of the agent's stderr, redacted. Absent where it wrote nothing. */
  readonly stderrTail?: string;
  /** Why it is not ready: an `AcpError` with a code and, where they apply, the exit and the agent's own error. */
  readonly error?: AcpError;
}

/** An agent as it presents itself. */
export interface ProbedAgent {
  readonly agentInfo?: Implementation;
  readonly agentCapabilities: AgentCapabilities;
  readonly authMethods: AuthMethod[];
  /** `_meta` of its answer. */
  readonly meta?: Record<string, unknown>;
}

export interface ProbeOptions {
  binaryPath: string;
  args: string[];
  cwd: string;
  env: EnvironmentLike;
  /** Milliseconds, for the handshake and again for the session of a deep probe; 0 is no time at all. Default: 30,000. */
  timeoutMs?: number;
  /**
   * Also open a session: an agent that refuses it because nobody is signed in is `unauthenticated`. Default: `false`, as some
   * agents take seconds for it, and some leave files.
   */
  deep?: boolean;
}

/**
 * Starts the agent, initializes, opens a session where `deep` asks for it, ends it. Never rejects; the process tree is gone
 * when it resolves.
 */
export function probeAcpReadiness(options: ProbeOptions): Promise<AcpProbeStatus>;

export {};
