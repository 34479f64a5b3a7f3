'use strict';

/**
 * What is known of particular agents, as data, and the settings of the adapter that go beyond `resolveCliSettings`.
 *
 * An argv template is a list of strings and of conditional parts `{ when, args }`: the part is left out while the value
 * `when` names is absent, and repeated for each item while it is a list. `{model}` and the like stand for the value.
 */

const path = require('node:path');
const { isObject } = require('./tool-mapping.js');
const { CLAUDE_CODE_CLI_ACP_BINARY } = require('./claude-bridge.js');
const { stringList, text } = require('./cli-settings.js');

/** What a program needs to find itself, its user, its files and its language. */
const BASE_ENV = Object.freeze([
  'HOME', 'PATH', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TERMINFO', 'TMPDIR', 'COLORTERM',
  'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME',
]);

/**
 * @typedef {'auto' | 'field' | 'meta' | 'text' | 'none'} SystemPromptVia
 *   How a system prompt reaches the agent. `auto`: the protocol's field where the agent advertises it, else as the preset
 *   says, else as a text block before the first prompt.
 *
 * @typedef {string | { when: 'model' | 'pluginDirs', args: string[] }} ArgvPart
 *
 * @typedef {object} AgentPreset
 * @property {string} id the runtime's, as the engine knows it; also the front of what `describeModel` says
 * @property {string} name the runtime's
 * @property {string} label the name in diagnostics
 * @property {string} [binaryPath]
 * @property {ArgvPart[]} [argv] replaces an absent `acpArgs`
 * @property {string[]} [modelPrefixes] cut off the front of a model's name
 * @property {string[]} [envAllowList]
 * @property {{ preferMethods?: string[], meta?: Record<string, unknown>, require?: boolean }} [authenticate]
 * @property {{ methodId: string, env: string[] }} [keyMethod] a method that goes last unless one of these variables is set
 * @property {string} [systemPromptMeta] the key of `_meta` under which the agent takes a system prompt
 * @property {string} [pluginDirsMeta] the key of `_meta` under which the agent takes plugin directories
 * @property {string} [toolCountMeta] the key of `_meta` under which the agent is told how many tools the engine offers
 * @property {boolean} [checksMcpCommands] the agent refuses a session when the program of an MCP server does not exist
 * @property {number} [idleTimeoutMs] how long a turn may be silent, where the usual limit is too long
 * @property {string} [startHint] what to look at when the agent does not start
 * @property {string} [stallHint] what may be the matter when a turn falls silent
 */

/** @type {Readonly<Record<string, AgentPreset>>} */
const PRESETS = Object.freeze({
  generic: { id: 'acp', name: 'ACP Runtime', label: 'ACP' },
  claude: {
    id: 'claude',
    name: 'Claude Runtime',
    label: 'Claude',
    binaryPath: CLAUDE_CODE_CLI_ACP_BINARY,
    argv: [],
    modelPrefixes: ['claude-cli/', 'claude/'],
    envAllowList: [
      'HOME', 'PATH', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME',
    ],
    // The bridge reads no system prompt from `_meta`.
    pluginDirsMeta: 'pluginDirs',
    idleTimeoutMs: 5 * 60_000,
    startHint: 'is `claude` installed, and was it run once to sign in?',
    stallHint: `${CLAUDE_CODE_CLI_ACP_BINARY} 0.1.1 may leave prompts of more than about 60 characters unanswered on a busy machine`,
  },
  grok: {
    id: 'grok',
    name: 'Grok Runtime',
    label: 'Grok',
    binaryPath: 'grok',
    argv: [
      'agent', { when: 'pluginDirs', args: ['--plugin-dir', '{pluginDirs}'] }, { when: 'model', args: ['-m', '{model}'] },
      'stdio',
    ],
    modelPrefixes: ['grok-cli/', 'grok/'],
    envAllowList: [
      ...BASE_ENV, 'XAI_API_KEY', 'GROK_API_KEY', 'GROK_OIDC_ISSUER', 'GROK_OIDC_CLIENT_ID',
      'GROK_CLI_CHAT_PROXY_BASE_URL', 'XAI_API_BASE_URL',
    ],
    authenticate: { preferMethods: ['xai.api_key', 'cached_token'], meta: { headless: true }, require: false },
    keyMethod: { methodId: 'xai.api_key', env: ['XAI_API_KEY', 'GROK_API_KEY'] },
    systemPromptMeta: 'systemPromptOverride',
    pluginDirsMeta: 'pluginDirs',
    startHint: 'is `grok` installed and signed in, or is XAI_API_KEY set?',
  },
  omp: {
    id: 'omp',
    name: 'OMP Runtime',
    label: 'OMP',
    binaryPath: 'omp',
    argv: [{ when: 'model', args: ['--model', '{model}'] }, 'acp'],
    modelPrefixes: ['omp-cli/', 'omp/'],
    envAllowList: [
      ...BASE_ENV, 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GOOGLE_API_KEY', 'GEMINI_API_KEY',
      'XAI_API_KEY', 'GROK_API_KEY', 'ZAI_API_KEY', 'Z_AI_API_KEY', 'GLM_API_KEY', 'MINIMAX_API_KEY', 'MINIMAX_GROUP_ID',
      'KIMI_API_KEY', 'MOONSHOT_API_KEY',
    ],
    authenticate: { preferMethods: ['agent', 'terminal'], meta: { headless: true }, require: false },
    systemPromptMeta: 'systemPromptOverride',
    toolCountMeta: 'fusionToolCount',
    checksMcpCommands: true,
    startHint: 'is `omp` installed and signed in, and is the model named with its provider?',
  },
});

/** The engine's word for the agent's own choice of a model. */
const DEFAULT_MODEL = 'default';
/** @type {readonly string[]} */
const VIAS = ['auto', 'field', 'meta', 'text', 'none'];

/** Limits that hold where no setting says otherwise, in milliseconds. 0 means none, but of `initialize`: there it is no time. */
const DEFAULT_TIMEOUTS = Object.freeze({
  initialize: 30_000, session: 120_000, authenticate: 60_000, prompt: 0, idle: 30 * 60_000,
});

/**
 * @param {unknown} value
 * @param {number} fallback
 */
function milliseconds(value, fallback) {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : fallback;
}

/**
 * @typedef {object} RuntimeSettings
 * @property {AgentPreset} preset
 * @property {string} label
 * @property {string | undefined} stallHint
 * @property {SystemPromptVia} systemPromptVia
 * @property {string | undefined} systemPromptMeta
 * @property {boolean} resolveNeverReject
 * @property {string[]} pluginDirs
 * @property {boolean} ownAuthenticate the settings say how to sign in
 * @property {{ initialize: number, session: number, authenticate: number, prompt: number, idle: number }} timeouts
 */

/**
 * The settings with what the preset says where they say nothing.
 *
 * @param {Record<string, unknown>} [settings]
 * @returns {Record<string, unknown>}
 */
function withPreset(settings) {
  const given = isObject(settings) ? settings : {};
  const preset = presetOf(given);
  const defaults = {
    acpBinaryPath: preset.binaryPath, acpEnvAllowList: preset.envAllowList, acpAuthenticate: preset.authenticate,
  };
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

/**
 * @param {Record<string, unknown>} settings
 * @returns {AgentPreset}
 */
function presetOf(settings) {
  const name = text(settings.acpPreset) ?? 'generic';
  return Object.hasOwn(PRESETS, name) ? PRESETS[name] : PRESETS.generic;
}

/**
 * The preset that knows the agent's ways: the one that is named, or that of the bridge where the settings name the bridge.
 *
 * @param {Record<string, unknown>} settings
 * @returns {AgentPreset}
 */
function agentPreset(settings) {
  const preset = presetOf(settings);
  return preset === PRESETS.generic && namesBridge(text(settings.acpBinaryPath)) ? PRESETS.claude : preset;
}

/** @param {string | undefined} binaryPath */
function namesBridge(binaryPath) {
  return binaryPath !== undefined && path.parse(binaryPath).name === CLAUDE_CODE_CLI_ACP_BINARY;
}

/**
 * @param {Record<string, unknown>} [settings]
 * @returns {RuntimeSettings}
 */
function resolveRuntimeSettings(settings) {
  const given = isObject(settings) ? settings : {};
  const preset = presetOf(given);
  const via = text(given.acpSystemPromptVia) ?? 'auto';
  return {
    preset,
    stallHint: agentPreset(given).stallHint,
    label: text(given.acpLabel) ?? preset.label,
    systemPromptVia: /** @type {SystemPromptVia} */ (VIAS.includes(via) ? via : 'auto'),
    systemPromptMeta: text(given.acpSystemPromptMeta) ?? preset.systemPromptMeta,
    resolveNeverReject: given.acpResolveNeverReject === true,
    pluginDirs: (stringList(given.acpPluginDirs) ?? []).map((dir) => dir.trim()).filter((dir) => dir !== ''),
    ownAuthenticate: given.acpAuthenticate !== undefined,
    timeouts: {
      initialize: milliseconds(given.acpInitializeTimeoutMs, DEFAULT_TIMEOUTS.initialize),
      session: milliseconds(given.acpSessionTimeoutMs, DEFAULT_TIMEOUTS.session),
      authenticate: milliseconds(given.acpAuthenticateTimeoutMs, DEFAULT_TIMEOUTS.authenticate),
      prompt: milliseconds(given.acpPromptTimeoutMs, DEFAULT_TIMEOUTS.prompt),
      idle: milliseconds(given.acpIdleTimeoutMs, agentPreset(given).idleTimeoutMs ?? DEFAULT_TIMEOUTS.idle),
    },
  };
}

/**
 * The model as the agent knows it: without the engine's prefixes; absent for the agent's own choice.
 *
 * @param {AgentPreset} preset
 * @param {string | undefined} model
 * @returns {string | undefined}
 */
function agentModel(preset, model) {
  const prefix = preset.modelPrefixes?.find((known) => model?.startsWith(known)) ?? '';
  const name = model?.slice(prefix.length).trim();
  return name === undefined || name === '' || name === DEFAULT_MODEL ? undefined : name;
}

/**
 * @param {AgentPreset} preset
 * @param {{ model?: string, pluginDirs?: string[] }} values
 * @returns {string[]}
 */
function buildArgv(preset, values) {
  return (preset.argv ?? []).flatMap((part) => {
    if (typeof part === 'string') return [part];
    const value = values[part.when];
    const items = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return items.flatMap((item) => part.args.map((arg) => (arg === `{${part.when}}` ? item : arg)));
  });
}

/**
 * The methods to sign in with, in the order that suits the agent's environment.
 *
 * @param {AgentPreset} preset
 * @param {string[]} methods
 * @param {Record<string, string>} env
 * @returns {string[]}
 */
function orderMethods({ keyMethod }, methods, env) {
  if (keyMethod === undefined || keyMethod.env.some((name) => (env[name] ?? '').trim() !== '')) return methods;
  const others = methods.filter((id) => id !== keyMethod.methodId);
  return others.length === methods.length ? methods : [...others, keyMethod.methodId];
}

module.exports = {
  PRESETS, BASE_ENV, DEFAULT_MODEL, DEFAULT_TIMEOUTS, withPreset, resolveRuntimeSettings, agentModel, buildArgv, orderMethods,
};
