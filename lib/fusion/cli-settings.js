'use strict';

/** The plugin's settings: what is malformed counts as absent, and every switch is off unless it is literally `true`. */

const { isObject } = require('./tool-mapping.js');
const { CLAUDE_CODE_CLI_ACP_BINARY, resolveBundledClaudeBridgeBinary } = require('./claude-bridge.js');

/** @typedef {import('../../types/plugin').AcpCliSettings} AcpCliSettings */

const DEFAULT_BINARY = 'acp-agent';
const DEFAULT_AUTHENTICATE = Object.freeze({
  preferMethods: ['xai.api_key', 'cached_token'], meta: { headless: true }, require: true,
});

/**
 * @param {unknown} value
 * @returns {string | undefined}
 */
function text(value) {
  const trimmed = typeof value === 'string' ? value.trim() : '';
  return trimmed === '' ? undefined : trimmed;
}

/**
 * A list of strings: all or nothing.
 *
 * @param {unknown} value
 * @returns {string[] | undefined}
 */
function stringList(value) {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? [...value] : undefined;
}

/**
 * @param {unknown} value
 * @returns {AcpCliSettings['authenticate']}
 */
function authenticateOf(value) {
  if (value === true) return structuredClone({ ...DEFAULT_AUTHENTICATE });
  if (!isObject(value)) return undefined;
  const preferMethods = stringList(value.preferMethods);
  const methodId = text(value.methodId);
  const require = value.require === true;
  if (preferMethods === undefined && methodId === undefined && !require) return undefined;
  return {
    ...(preferMethods === undefined ? {} : { preferMethods }),
    ...(methodId === undefined ? {} : { methodId }),
    meta: isObject(value.meta) ? value.meta : { headless: true },
    require,
  };
}

/**
 * @param {Record<string, unknown>} [settings]
 * @returns {AcpCliSettings}
 */
function resolveCliSettings(settings) {
  const given = isObject(settings) ? settings : {};
  const requested = text(given.acpBinaryPath) ?? DEFAULT_BINARY;
  const binaryResolution = requested === CLAUDE_CODE_CLI_ACP_BINARY ? resolveBundledClaudeBridgeBinary() : undefined;
  const bundled = binaryResolution?.kind === 'resolved' ? binaryResolution.path : undefined;
  return {
    binaryPath: bundled ?? requested,
    args: stringList(given.acpArgs) ?? [],
    model: text(given.acpModel),
    fsRead: given.acpFsRead === true,
    fsWrite: given.acpFsWrite === true,
    envAllowList: stringList(given.acpEnvAllowList) ?? [],
    requiredEnv: [],
    allowUnrestricted: given.acpAllowUnrestricted === true,
    binaryResolution,
    authenticate: authenticateOf(given.acpAuthenticate),
  };
}

/**
 * @param {Record<string, unknown>} [settings]
 * @returns {AcpCliSettings}
 */
function resolveClaudeBridgeAskSettings(settings) {
  const model = isObject(settings) ? settings.acpModel : undefined;
  return {
    ...resolveCliSettings({
      acpBinaryPath: CLAUDE_CODE_CLI_ACP_BINARY, acpArgs: [], acpModel: model, acpEnvAllowList: ['HOME', 'PATH'],
    }),
    requiredEnv: ['HOME'],
  };
}

module.exports = { resolveCliSettings, resolveClaudeBridgeAskSettings, text, stringList };
