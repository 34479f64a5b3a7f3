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

const AUTH_HINT = 'Claude is not authenticated for the ACP bridge: run `claude` once to authenticate';

/**
 * @param {import('../../types/plugin').PluginContext} context
 * @param {import('../../types/plugin').CheckAcpSetupDeps} [deps]
 * @returns {Promise<PluginSetupCheckResult>}
 */
async function checkSetup(context, deps = {}) {
  const { pluginRoot } = deps;
  const resolution = resolveBundledClaudeBridgeBinary({ pluginRoot });
  const binaryPath = resolution.path;
  /** @param {string} error @returns {PluginSetupCheckResult} */
  const failed = (error) => ({ status: 'error', binaryPath, error });
  if (binaryPath === undefined || !fs.existsSync(binaryPath)) {
    return { status: 'not-installed', binaryPath, error: resolution.reason };
  }
  if (resolution.kind !== 'resolved') return failed(resolution.reason ?? 'the bundled bridge cannot be used');
  try {
    // With a probe of the caller's own nothing is started, so the content of the binary does not matter.
    const wrong = deps.probe === undefined ? await verifyBridgeBinary(pluginRoot) : undefined;
    if (wrong !== undefined) return failed(wrong);
    const settings = resolveClaudeBridgeAskSettings(context?.settings);
    const env = buildSpawnEnv(settings.envAllowList, { required: settings.requiredEnv });
    const cwd = process.cwd();
    const probe = deps.probe ?? probeAcpReadiness;
    const status = await probe({
      binaryPath, args: settings.args, cwd, env, timeoutMs: setupManifest.defaultTimeoutMs,
    });
    if (status.reason === 'missing_binary') {
      return { status: 'not-installed', binaryPath, error: `Install bundled dependency ${CLAUDE_CODE_CLI_ACP_BINARY}@${BRIDGE_VERSION}` };
    }
    if (status.reason === 'unauthenticated') return failed(AUTH_HINT);
    if (!status.ok) return failed(status.detail ?? `ACP readiness failed: ${status.reason}`);
    // The methods that an agent advertises do not tell whether it is logged in; `claude` itself does.
    if (status.authRequired === true) {
      const login = deps.probe === undefined ? await claudeAuthStatus({ env, cwd }) : { loggedIn: false };
      if (login.loggedIn !== true) return failed(login.detail === undefined ? AUTH_HINT : `${AUTH_HINT} (${login.detail})`);
    }
    return { status: 'installed', version: BRIDGE_VERSION, binaryPath };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

/** @type {import('../../types/plugin').PluginSetupHooks} */
const setupHooks = { checkSetup };

module.exports = { setupManifest, setupHooks, checkSetup, validateBundledBridgeIdentity };
