'use strict';

const { AcpError } = require('../errors.js');

/**
 * A caller's mistake, told before anything happens.
 *
 * @param {string} message
 * @returns {InstanceType<typeof AcpError>}
 */
function invalid(message) {
  return new AcpError('invalid_argument', message);
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {string}
 */
function string(value, name) {
  if (typeof value !== 'string') throw invalid(`${name} must be a string`);
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {string[]}
 */
function strings(value, name) {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw invalid(`${name} must be a list of strings`);
  }
  return value;
}

/**
 * A duration or size; absent stays absent.
 *
 * @param {unknown} value
 * @param {string} name
 * @param {number} [max]
 * @returns {number | undefined}
 */
function whole(value, name, max = 2 ** 31 - 1) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !(value >= 0)) throw invalid(`${name} must be a number, not negative`);
  // Infinity means no limit where the limit is high enough to be one.
  return Math.min(Math.ceil(value), max);
}

/**
 * A value of the caller as JSON.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {string}
 */
function json(value, name) {
  /** @type {string | undefined} */
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw invalid(`${name} cannot be written as JSON: ${error instanceof Error ? error.message.split('\n')[0] : 'it throws'}`);
  }
  if (text === undefined) throw invalid(`${name} cannot be written as JSON`);
  return text;
}

/**
 * The environment as pairs; a value of `undefined` counts as absent.
 *
 * @param {unknown} env
 * @returns {Array<[string, string]>}
 */
function pairs(env) {
  if (env === undefined || env === null) return [];
  if (typeof env !== 'object') throw invalid('env must be an object');
  const known = Object.entries(env).filter(([, value]) => value !== undefined);
  for (const [name, value] of known) string(value, `env.${name}`);
  return /** @type {Array<[string, string]>} */ (known);
}

/**
 * Checks and converts the options of a launch.
 *
 * @param {Record<string, any>} options
 * @returns {object}
 */
function launchOptions(options) {
  if (options === null || typeof options !== 'object') throw invalid('launch needs an options object');
  return {
    command: string(options.command, 'command'),
    args: strings(options.args ?? [], 'args'),
    cwd: string(options.cwd, 'cwd'),
    env: pairs(options.env),
    hostPath: options.hostPath ?? process.env.PATH,
    secrets: strings(options.secrets ?? [], 'secrets'),
    stderrBytes: whole(options.stderrBytes, 'stderrBytes'),
    clientInfo: options.clientInfo,
    offers: options.offers ?? {},
    capabilitiesMeta: options.capabilitiesMeta,
    initializeTimeoutMs: whole(options.initializeTimeoutMs, 'initializeTimeoutMs'),
    initializeMaxMs: whole(options.initializeMaxMs, 'initializeMaxMs'),
    authenticate: options.authenticate || undefined,
    anyOfferedOption: options.anyOfferedOption === true,
    maxMessageBytes: whole(options.maxMessageBytes, 'maxMessageBytes'),
    relativePaths: options.relativePaths === true,
    readMaxBytes: whole(options.readMaxBytes, 'readMaxBytes'),
    writeMaxBytes: whole(options.writeMaxBytes, 'writeMaxBytes'),
    terminalOutputBytes: whole(options.terminalOutputBytes, 'terminalOutputBytes', Number.MAX_SAFE_INTEGER),
    maxTerminals: whole(options.maxTerminals, 'maxTerminals'),
  };
}

/**
 * @param {Record<string, any>} options
 * @returns {object}
 */
function turnOptions(options) {
  return {
    timeoutMs: whole(options.timeoutMs, 'timeoutMs') ?? 0,
    idleTimeoutMs: whole(options.idleTimeoutMs, 'idleTimeoutMs') ?? 0,
    settleMs: whole(options.settleMs, 'settleMs') ?? 0,
    _meta: options.meta,
  };
}

/**
 * @param {Record<string, any>} options
 * @returns {object}
 */
function closeOptions(options) {
  return {
    graceMs: whole(options.graceMs, 'graceMs'),
    termGraceMs: whole(options.termGraceMs, 'termGraceMs'),
    turnGraceMs: whole(options.turnGraceMs, 'turnGraceMs'),
  };
}

module.exports = { launchOptions, turnOptions, closeOptions, whole, string, strings, json, invalid };
