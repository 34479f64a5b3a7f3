import {
  AcpAuthRequiredError, AcpError, AcpSpawnError, FsContentTooLargeError, FsWriteDeniedError, HandshakeTimeoutError,
  IncompatibleProtocolError, MissingAcpEnvError, PathJailError,
} from 'fusion-acp-runtime';
import type { AcpErrorCode, AcpErrorPhase } from 'fusion-acp-runtime';
import type { Expect, Same } from './expect.js';

export const errors: AcpError[] = [
  new AcpError('timeout', 'late', { phase: 'prompt', partialText: 'so far' }),
  new AcpSpawnError('ENOENT', '/bin/agent'),
  new IncompatibleProtocolError(2),
  new HandshakeTimeoutError(30_000),
  new AcpAuthRequiredError(['login']),
  new MissingAcpEnvError(['HOME']),
  new FsContentTooLargeError(10),
  new FsWriteDeniedError('no'),
  new PathJailError('denied_git', 'no'),
];

/** Subclasses narrow the code to what the callers of the class compare. */
export type Auth = Expect<Same<AcpAuthRequiredError['code'], 'acp_auth_required'>>;
export type Env = Expect<Same<MissingAcpEnvError['code'], 'ACP_MISSING_ENV'>>;
export type Timeout = Expect<Same<HandshakeTimeoutError['code'], 'handshake_timeout'>>;
export type Protocol = Expect<Same<IncompatibleProtocolError['code'], 'incompatible_protocol'>>;
export type Phase = Expect<Same<NonNullable<AcpError['phase']>, AcpErrorPhase>>;

export function decide(error: AcpError): unknown {
  switch (error.code) {
    case 'agent_exited': return error.exit?.signal;
    case 'agent_error': return error.rpc?.code;
    case 'acp_auth_required': return error instanceof AcpAuthRequiredError && error.availableMethodIds;
    case 'ENOENT': return error instanceof AcpSpawnError && error.path;
    // @ts-expect-error the native spelling is not the host's
    case 'auth_required': return 1;
    default: return error.retryable;
  }
}

// @ts-expect-error not a code
export const code: AcpErrorCode = 'ECONNRESET';
// @ts-expect-error the phase is one of a few
export const phase = new AcpError('timeout', 'x', { phase: 'spawning' });
// @ts-expect-error codes do not change
new AcpError('timeout', 'x').code = 'aborted';
