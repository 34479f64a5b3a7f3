// Readiness: the handshake itself.

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
  /** Whether the agent advertised any way to authenticate. */
  authRequired?: boolean;
}

export interface ProbeOptions {
  binaryPath: string;
  args: string[];
  cwd: string;
  env: EnvironmentLike;
  /** Milliseconds. Default: 30,000. */
  timeoutMs?: number;
}

/** Starts the agent, initializes, ends it. Never rejects; the process tree is gone when it resolves. */
export function probeAcpReadiness(options: ProbeOptions): Promise<AcpProbeStatus>;

export {};
