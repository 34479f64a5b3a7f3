'use strict';

/** Readiness: the handshake itself. */

const native = require('../native');

/** Milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * @typedef {import('../../types/probe').AcpProbeStatus} AcpProbeStatus
 * @typedef {import('../../types/probe').ProbeOptions} ProbeOptions
 */

/**
 * @param {ProbeOptions} options
 * @returns {Promise<AcpProbeStatus>}
 */
async function probeAcpReadiness(options) {
  try {
    const { binaryPath: command, args, cwd, env, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    const launch = native.launchOptions({ command, args, cwd, env, initializeTimeoutMs: timeoutMs });
    const { ok, reason, detail, authRequired, error, ...found } = await native.probe({ launch });
    // Of an agent that speaks another version, that version.
    const other = error?.extra?.agentProtocolVersion;
    const protocolVersion = found.protocolVersion ?? (typeof other === 'number' ? other : undefined);
    return {
      ok,
      reason,
      ...(detail === undefined ? {} : { detail }),
      ...(protocolVersion === undefined ? {} : { protocolVersion }),
      ...(authRequired === undefined ? {} : { authRequired }),
    };
  } catch (error) {
    return { ok: false, reason: 'spawn_error', detail: error instanceof Error ? error.message : String(error) };
  }
}

module.exports = { probeAcpReadiness };
