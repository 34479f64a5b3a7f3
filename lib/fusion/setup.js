'use strict';

/**
 * The setup check: the pinned bridge, its identity, its handshake, its login.
 *
 * @typedef {import('../../types/plugin').PluginSetupCheckResult} PluginSetupCheckResult
 */

const fs = require('node:fs');
const { claudeAuthStatus } = require('./claude-auth.js');
const {
  BRIDGE_VERSION, CLAUDE_CODE_CLI_ACP_BINARY, resolveBundledClaudeBridgeBinary, validateBundledBridgeIdentity,
  verifyBridgeBinary,
} = require('./claude-bridge.js');
const { resolveClaudeBridgeAskSettings } = require('./cli-settings.js');
const { buildSpawnEnv } = require('./process-manager.js');
const { probeAcpReadiness } = require('./probe.js');

/** @type {import('../../types/plugin').PluginSetupManifest} */
const setupManifest = {
  binaryName: CLAUDE_CODE_CLI_ACP_BINARY,
  description: "Claude Code ACP bridge used by Fusion's read-only ask path",
  channel: 'beta',
  defaultTimeoutMs: 30_000,
};

/** Below the time that a plugin loader gives the whole check, so that the check itself says what took so long. */
const CHECK_MS = 27_000;
/** The handshake takes a fraction of a second. `claude` takes one, and ten on a busy machine. */
const PROBE_TIMEOUT_MS = 15_000;

const AUTH_HINT = 'Claude is not authenticated for the ACP bridge: run `claude` once to authenticate';
const NO_CLAUDE = 'Claude Code is not installed: there is no `claude` on the PATH. Install it, then run `claude` once to authenticate';
const NOT_VERIFIED = 'the sign-in of Claude was not verified';

/**
 * @param {import('../../types/plugin').PluginContext} context
 * @param {import('../../types/plugin').CheckAcpSetupDeps} [deps]
 * @returns {Promise<PluginSetupCheckResult>}
 */
async function checkSetup(context, deps = {}) {
  /** @type {string | undefined} */
  let binaryPath;
  try {
    const { pluginRoot } = deps;
    const resolution = resolveBundledClaudeBridgeBinary({ pluginRoot });
    binaryPath = resolution.path;
    if (binaryPath === undefined || !fs.existsSync(binaryPath)) {
      return { status: 'not-installed', binaryPath, error: resolution.reason };
    }
    if (resolution.kind !== 'resolved') {
      return { status: 'error', binaryPath, error: resolution.reason ?? 'the bundled bridge cannot be used' };
    }
    return await checkBridge(binaryPath, context, deps);
  } catch (error) {
    return { status: 'error', binaryPath, error: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * @param {string} binaryPath
 * @param {import('../../types/plugin').PluginContext} context
 * @param {import('../../types/plugin').CheckAcpSetupDeps} deps
 * @returns {Promise<PluginSetupCheckResult>}
 */
async function checkBridge(binaryPath, context, { pluginRoot, probe, authStatus }) {
  const deadline = Date.now() + CHECK_MS;
  /** @param {string} error @returns {PluginSetupCheckResult} */
  const failed = (error) => ({ status: 'error', binaryPath, error });
  // With a probe of the caller's own nothing is started, so the content of the binary does not matter.
  const wrong = probe === undefined ? await verifyBridgeBinary(pluginRoot) : undefined;
  if (wrong !== undefined) return failed(wrong);
  const settings = resolveClaudeBridgeAskSettings(context?.settings);
  const env = buildSpawnEnv(settings.envAllowList, { required: settings.requiredEnv });
  const cwd = process.cwd();
  const status = await (probe ?? probeAcpReadiness)({
    binaryPath, args: settings.args, cwd, env, timeoutMs: PROBE_TIMEOUT_MS,
  });
  if (status.reason === 'missing_binary') {
    const error = `Install bundled dependency ${CLAUDE_CODE_CLI_ACP_BINARY}@${BRIDGE_VERSION}`;
    return { status: 'not-installed', binaryPath, error };
  }
  if (status.reason === 'unauthenticated') return failed(AUTH_HINT);
  if (!status.ok) return failed(status.detail ?? `ACP readiness failed: ${status.reason}`);
  const installed = { status: /** @type {const} */ ('installed'), version: BRIDGE_VERSION, binaryPath };
  if (status.authRequired !== true) return installed;
  // The methods that an agent advertises do not tell whether it is logged in; `claude` itself does.
  const ask = authStatus ?? (probe === undefined ? claudeAuthStatus : notLoggedIn);
  const { loggedIn, missing, detail } = await ask({ env, cwd, timeoutMs: Math.max(0, deadline - Date.now()) });
  if (loggedIn === true) return installed;
  if (loggedIn === false) return failed(AUTH_HINT);
  return missing === true ? failed(NO_CLAUDE) : { ...installed, error: `${NOT_VERIFIED}: ${detail}` };
}

/** @returns {Promise<import('./claude-auth').ClaudeLogin>} */
async function notLoggedIn() {
  return { loggedIn: false };
}

/** @type {import('../../types/plugin').PluginSetupHooks} */
const setupHooks = { checkSetup };

module.exports = { setupManifest, setupHooks, checkSetup, validateBundledBridgeIdentity };
