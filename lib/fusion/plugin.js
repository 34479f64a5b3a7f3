'use strict';

/**
 * The plugin object, as an engine's loader takes it.
 *
 * @typedef {import('../../types/plugin').PluginContext} PluginContext
 */

const { version } = require('../../package.json');
const { resolveCliSettings } = require('./cli-settings.js');
const { resolveBundledClaudeBridgeBinary } = require('./claude-bridge.js');
const { withPreset } = require('./presets.js');
const { AcpRuntimeAdapter } = require('./runtime-adapter.js');
const { setupHooks, setupManifest } = require('./setup.js');

const ACP_RUNTIME_ID = /** @type {const} */ ('acp');
const DESCRIPTION = 'Drives any external ACP-compatible agent over JSON-RPC/stdio';
/** Where the engine looks for the bridge. */
const BRIDGE_VARIABLE = 'FUSION_CLAUDE_ACP_BRIDGE';

const acpRuntimeMetadata = {
  runtimeId: ACP_RUNTIME_ID, name: 'ACP Runtime', description: DESCRIPTION, version,
};

/**
 * @param {PluginContext} context
 * @returns {Promise<AcpRuntimeAdapter>}
 */
async function acpRuntimeFactory(context) {
  return new AcpRuntimeAdapter(context?.settings);
}

/** @param {PluginContext} context */
function onLoad(context) {
  const { logger } = context;
  const settings = resolveCliSettings(withPreset(context.settings));
  // Arguments may hold secrets: only their number is told.
  logger?.info(`ACP Runtime Plugin loaded — binary=${settings.binaryPath} argCount=${settings.args.length} `
    + `fsRead=${settings.fsRead} fsWrite=${settings.fsWrite}`);
  if (settings.allowUnrestricted) {
    logger?.warn('acpAllowUnrestricted is on: what a policy allows is done without an approval, though the agent is not trusted');
  }
  publishBridge(logger);
}

/**
 * Tells the engine where the bundled bridge is. Somebody's own choice stands.
 *
 * @param {PluginContext['logger']} logger
 */
function publishBridge(logger) {
  if (process.env[BRIDGE_VARIABLE] !== undefined) return;
  const bridge = resolveBundledClaudeBridgeBinary();
  if (bridge.kind === 'resolved' && bridge.path !== undefined) process.env[BRIDGE_VARIABLE] = bridge.path;
  else logger?.info(`${BRIDGE_VARIABLE} is left unset: ${bridge.reason}`);
}

/** @type {import('../../types/plugin').FusionPlugin} */
const plugin = {
  manifest: {
    id: 'fusion-plugin-acp-runtime',
    name: 'ACP Runtime Plugin',
    version,
    description: DESCRIPTION,
    runtime: acpRuntimeMetadata,
  },
  state: 'installed',
  hooks: { onLoad },
  runtime: { metadata: acpRuntimeMetadata, factory: /** @type {any} */ (acpRuntimeFactory) },
  setup: { manifest: setupManifest, hooks: setupHooks },
};

module.exports = { plugin, ACP_RUNTIME_ID, acpRuntimeMetadata, acpRuntimeFactory };
