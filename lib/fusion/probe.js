'use strict';

/** Readiness: the handshake itself and, where asked for, a session. */

const { clean } = require('../clean.js');
const { fromNative } = require('../errors.js');
const native = require('../native');
const { invalid, whole } = require('../native/options.js');

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
    if (options === null || typeof options !== 'object') throw invalid('probeAcpReadiness needs an options object');
    const { binaryPath: command, args, cwd, env, timeoutMs = DEFAULT_TIMEOUT_MS, deep } = options;
    const launch = native.launchOptions({ command, args, cwd, env, initializeTimeoutMs: whole(timeoutMs, 'timeoutMs') });
    const found = await native.probe({ launch, deep: deep === true });
    return withFacts(statusOf(found), { ...factsOf(found), error: found.error && fromNative(found.error, { command }) });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return withFacts({ ok: false, reason: 'spawn_error', detail }, { error });
  }
}

/**
 * The status as the engine's contract has it.
 *
 * @param {any} found
 * @returns {AcpProbeStatus}
 */
function statusOf({ ok, reason, detail, authRequired, error, ...found }) {
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
}

/**
 * @param {any} found
 * @returns {Record<string, unknown>}
 */
function factsOf({ agent, elapsedMs, stderrTail }) {
  if (agent === undefined) return { elapsedMs, stderrTail };
  const { agentInfo, agentCapabilities, authMethods, _meta: meta } = clean(agent);
  return {
    agent: { ...(agentInfo ? { agentInfo } : {}), agentCapabilities, authMethods, ...(meta === undefined ? {} : { meta }) },
    elapsedMs,
    stderrTail,
  };
}

/**
 * Adds what goes beyond the contract. Not enumerable: callers compare and store the status as the contract has it.
 *
 * @param {AcpProbeStatus} status
 * @param {Record<string, unknown>} facts
 * @returns {AcpProbeStatus}
 */
function withFacts(status, facts) {
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined) Object.defineProperty(status, name, { value });
  }
  return status;
}

module.exports = { probeAcpReadiness };
