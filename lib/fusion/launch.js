'use strict';

/**
 * What an agent of the adapter is started with, and what its sessions are opened with: the settings, and what is known of
 * the agent.
 *
 * @typedef {import('../../types/plugin').AcpCliSettings} AcpCliSettings
 * @typedef {import('./presets').AgentPreset} AgentPreset
 * @typedef {import('./presets').RuntimeSettings} RuntimeSettings
 */

const fs = require('node:fs');
const { AcpError } = require('../errors.js');
const { CLAUDE_CODE_CLI_ACP_BINARY } = require('./claude-bridge.js');
const { supportedMcpServers, toAcpMcpServers } = require('./mcp-servers.js');
const { buildArgv, orderMethods } = require('./presets.js');
const { buildSpawnEnv } = require('./process-manager.js');
const { authenticateOptions } = require('./provider.js');

/**
 * The launch of the configured agent.
 *
 * @param {AcpCliSettings} cli
 * @param {RuntimeSettings} runtime
 * @param {{ cwd: string, taskEnv?: Record<string, string | undefined>, model?: string }} values
 * @returns {Record<string, any>} `model` is set when the command line carries it
 */
function launchOptions(cli, runtime, { cwd, taskEnv, model }) {
  const { binaryResolution: bundled } = cli;
  // A bridge of the same name elsewhere on the PATH is somebody else's.
  if (bundled !== undefined && bundled.kind !== 'resolved') {
    const reason = bundled.reason ?? `${CLAUDE_CODE_CLI_ACP_BINARY} is not installed`;
    throw new AcpError('missing_binary', reason, { phase: 'spawn' });
  }
  const { argv } = runtime.preset;
  const templated = cli.args.length === 0 && argv !== undefined;
  const env = buildSpawnEnv(cli.envAllowList, { required: cli.requiredEnv, sourceEnv: { ...process.env, ...taskEnv } });
  const modelInArgv = templated && argv.some((part) => typeof part !== 'string' && part.when === 'model');
  return {
    command: cli.binaryPath,
    args: templated ? buildArgv(runtime.preset, { model, pluginDirs: runtime.pluginDirs }) : cli.args,
    cwd,
    env,
    offers: { readTextFile: cli.fsRead, writeTextFile: cli.fsWrite },
    relativePaths: true,
    initializeTimeoutMs: runtime.timeouts.initialize,
    authenticate: cli.authenticate && signIn(cli.authenticate, runtime, env),
    nodeSpawnErrors: true,
    model: modelInArgv ? model : undefined,
  };
}

/**
 * @param {NonNullable<AcpCliSettings['authenticate']>} authenticate
 * @param {RuntimeSettings} runtime
 * @param {Record<string, string>} env
 */
function signIn(authenticate, { preset, ownAuthenticate, timeouts }, env) {
  const options = authenticateOptions(authenticate);
  const preferMethods = ownAuthenticate ? options.preferMethods : orderMethods(preset, options.preferMethods, env);
  return { ...options, preferMethods, timeoutMs: timeouts.authenticate };
}

/**
 * The engine's MCP servers as the agent takes them, and what was left out.
 *
 * @param {AgentPreset} preset
 * @param {unknown} servers
 * @param {any} agentCapabilities
 */
function mcpServersFor(preset, servers, agentCapabilities) {
  const { taken, refused } = supportedMcpServers(toAcpMcpServers(servers), agentCapabilities);
  const notices = refused.map((name) => `MCP server ${name} was left out: the agent does not take its transport`);
  if (preset.checksMcpCommands !== true) return { mcpServers: taken, notices };
  const mcpServers = taken.filter((/** @type {any} */ { name, command }) => {
    // A name without a path is the agent's to look up.
    const found = typeof command !== 'string' || !/[\\/]/.test(command) || fs.existsSync(command);
    if (!found) notices.push(`MCP server ${name} was left out: there is no ${command}`);
    return found;
  });
  return { mcpServers, notices };
}

/**
 * What a preset's agent is told in `_meta` of `session/new`.
 *
 * @param {RuntimeSettings} runtime
 * @param {{ toolCount: number } | null} bridge
 * @returns {Record<string, unknown>}
 */
function presetMeta({ preset, pluginDirs }, bridge) {
  const { pluginDirsMeta, toolCountMeta } = preset;
  return {
    ...(pluginDirsMeta === undefined || pluginDirs.length === 0 ? {} : { [pluginDirsMeta]: pluginDirs }),
    ...(toolCountMeta === undefined || bridge === null ? {} : { [toolCountMeta]: bridge.toolCount }),
  };
}

module.exports = { launchOptions, mcpServersFor, presetMeta };
