'use strict';

/**
 * What is known of particular agents, as data, and the settings of the adapter that go beyond `resolveCliSettings`.
 *
 * An argv template is a list of strings and of conditional parts `{ when, args }`: the part is left out while the value
 * `when` names is absent, and repeated for each item while it is a list. `{model}` and the like stand for the value.
 */

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
 * @property {string} label the name in diagnostics
 * @property {string} [binaryPath]
 * @property {ArgvPart[]} [argv] replaces an absent `acpArgs`
 * @property {string[]} [modelPrefixes] cut off the front of a model's name
 * @property {string[]} [envAllowList]
 * @property {{ preferMethods?: string[], meta?: Record<string, unknown>, require?: boolean }} [authenticate]
 * @property {string} [systemPromptMeta] the key of `_meta` under which the agent takes a system prompt
 */

/** @type {Readonly<Record<string, AgentPreset>>} */
const PRESETS = Object.freeze({
  generic: { label: 'ACP' },
  claude: {
    label: 'Claude',
    binaryPath: CLAUDE_CODE_CLI_ACP_BINARY,
    argv: [],
    modelPrefixes: ['claude-cli/', 'claude/'],
    envAllowList: [...BASE_ENV],
    systemPromptMeta: 'systemPromptOverride',
  },
  grok: {
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
    systemPromptMeta: 'systemPromptOverride',
  },
  omp: {
    label: 'OMP',
    binaryPath: 'omp',
    argv: [{ when: 'model', args: ['--model', '{model}'] }, 'acp'],
    modelPrefixes: ['omp-cli/', 'omp/'],
    envAllowList: [...BASE_ENV],
    authenticate: { preferMethods: ['agent', 'terminal'], meta: { headless: true }, require: false },
    systemPromptMeta: 'systemPromptOverride',
  },
});

/** The engine's word for the agent's own choice of a model. */
const DEFAULT_MODEL = 'default';
/** @type {readonly string[]} */
const VIAS = ['auto', 'field', 'meta', 'text', 'none'];

/** Limits that hold where no setting says otherwise, in milliseconds. 0 means none. */
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
 * @property {SystemPromptVia} systemPromptVia
 * @property {string | undefined} systemPromptMeta
 * @property {boolean} resolveNeverReject
 * @property {string[]} pluginDirs
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
 * @param {Record<string, unknown>} [settings]
 * @returns {RuntimeSettings}
 */
function resolveRuntimeSettings(settings) {
  const given = isObject(settings) ? settings : {};
  const preset = presetOf(given);
  const via = text(given.acpSystemPromptVia) ?? 'auto';
  return {
    preset,
    label: text(given.acpLabel) ?? preset.label,
    systemPromptVia: /** @type {SystemPromptVia} */ (VIAS.includes(via) ? via : 'auto'),
    systemPromptMeta: text(given.acpSystemPromptMeta) ?? preset.systemPromptMeta,
    resolveNeverReject: given.acpResolveNeverReject === true,
    pluginDirs: stringList(given.acpPluginDirs) ?? [],
    timeouts: {
      initialize: milliseconds(given.acpInitializeTimeoutMs, DEFAULT_TIMEOUTS.initialize),
      session: milliseconds(given.acpSessionTimeoutMs, DEFAULT_TIMEOUTS.session),
      authenticate: milliseconds(given.acpAuthenticateTimeoutMs, DEFAULT_TIMEOUTS.authenticate),
      prompt: milliseconds(given.acpPromptTimeoutMs, DEFAULT_TIMEOUTS.prompt),
      idle: milliseconds(given.acpIdleTimeoutMs, DEFAULT_TIMEOUTS.idle),
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
  const name = model?.slice(prefix.length);
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

module.exports = { PRESETS, BASE_ENV, DEFAULT_TIMEOUTS, withPreset, resolveRuntimeSettings, agentModel, buildArgv };
