'use strict';

/**
 * What a caller hands in, checked before anything is done with it. Absent, `null` included, is always acceptable here: what is
 * needed is checked where it is used. All failures are `invalid_argument`, and name the argument.
 */

const { invalid, string, strings, whole } = require('../native/options.js');

/** @typedef {(value: any, name: string) => void} Check */

/**
 * @param {string} type
 * @param {string} what
 * @returns {Check}
 */
function typed(type, what) {
  return (value, name) => {
    if (typeof value !== type) throw invalid(`${name} must be ${what}`);
  };
}

const flag = typed('boolean', 'true or false');
const callback = typed('function', 'a function');

/** @param {any} value */
const isRecord = (value) => typeof value === 'object' && !Array.isArray(value);

/** @type {Check} */
function record(value, name) {
  if (!isRecord(value)) throw invalid(`${name} must be an object`);
}

/** @type {Check} */
function flagOrRecord(value, name) {
  if (typeof value !== 'boolean' && !isRecord(value)) throw invalid(`${name} must be true, false or an object`);
}

/** @type {Check} */
function flagOrText(value, name) {
  if (typeof value !== 'boolean' && typeof value !== 'string') throw invalid(`${name} must be true, false or a text`);
}

/** @type {Check} */
function textOrRecord(value, name) {
  if (typeof value !== 'string' && !isRecord(value)) throw invalid(`${name} must be a text or an object`);
}

/** @type {Check} */
function list(value, name) {
  if (!Array.isArray(value)) throw invalid(`${name} must be a list`);
}

/** @type {Check} */
function signal(value, name) {
  const fits = typeof value === 'object' && typeof value.aborted === 'boolean' &&
    typeof value.addEventListener === 'function' && typeof value.removeEventListener === 'function';
  if (!fits) throw invalid(`${name} must be an AbortSignal`);
}

/** @type {Record<string, Check>} */
const CALL = { signal, meta: record, timeoutMs: whole };

/** @type {Record<string, Check>} */
const PROMPT = { ...CALL, idleTimeoutMs: whole, settleMs: whole, queue: flag };

/** @type {Record<string, Check>} */
const SESSION = {
  ...CALL,
  cwd: string,
  mcpServers: list,
  additionalDirectories: strings,
  systemPrompt: textOrRecord,
  configOptions: record,
  queue: flag,
  maxQueuedTurns: whole,
  coalesce: flag,
  onReplay: callback,
  replay: flag,
  cursorId: string,
  sessionId: string,
};

/** @type {Record<string, Check>} */
const LISTING = { ...CALL, cwd: string, archived: flagOrText };

/** @type {Record<string, Check>} */
const CLOSE = { graceMs: whole };

/** @type {Record<string, Check>} */
const LAUNCH = {
  signal,
  clientInfo: record,
  richUpdates: flag,
  state: flag,
  terminalAuth: flag,
  capabilitiesMeta: record,
  unstable: flag,
  authenticate: flagOrRecord,
  requestTimeoutMs: whole,
  cancelGraceMs: whole,
  permissionTimeoutMs: whole,
  fs: record,
  terminal: flagOrRecord,
  elicitation: record,
  onPermission: callback,
  onElicitation: callback,
  onElicitationComplete: callback,
  onAuthStatus: callback,
  onExtRequest: callback,
  onExtNotification: callback,
  onWire: callback,
};

/** @type {Record<string, Record<string, Check>>} */
const NESTED = {
  fs: { read: flag, write: flag, readMaxBytes: whole, writeMaxBytes: whole, approveWrite: callback },
  terminal: { outputByteLimit: whole, maxTerminals: whole, approve: callback },
  elicitation: { form: flag, url: flag },
  clientInfo: { title: string },
  authenticate: { methodId: string, preferMethods: strings, meta: record, require: flag, timeoutMs: whole },
};

/**
 * Options without those that are `null`: absent, for whoever looks at them.
 *
 * @template {object} T
 * @param {T} options
 * @returns {T}
 */
function present(options) {
  const absent = Object.keys(options).filter((name) => /** @type {any} */ (options)[name] === null);
  if (absent.length === 0) return options;
  const copy = Object.assign(Object.create(Object.getPrototypeOf(options)), options);
  for (const name of absent) delete copy[name];
  return copy;
}

/**
 * Checks options; gives them back, and none where there are none. What is `null` is absent.
 *
 * @template {object} T
 * @param {T | null | undefined} options
 * @param {Record<string, Check>} checks
 * @param {string} [prefix]
 * @returns {T}
 */
function checked(options, checks, prefix = '') {
  if (options === undefined || options === null) return /** @type {T} */ ({});
  record(options, prefix === '' ? 'options' : prefix.slice(0, -1));
  for (const [name, check] of Object.entries(checks)) {
    const value = /** @type {any} */ (options)[name];
    if (value !== undefined && value !== null) check(value, `${prefix}${name}`);
  }
  return present(options);
}

/** @param {any} given */
function checkedLaunch(given) {
  if (given === null || typeof given !== 'object') throw invalid('launch needs an options object');
  const options = checked(given, LAUNCH);
  if (options.clientInfo !== undefined) {
    // The protocol requires them (Implementation).
    string(options.clientInfo.name, 'clientInfo.name');
    string(options.clientInfo.version, 'clientInfo.version');
  }
  const nested = Object.entries(NESTED)
    .filter(([name]) => typeof options[name] === 'object')
    .map(([name, checks]) => [name, checked(options[name], checks, `${name}.`)]);
  if (nested.every(([name, value]) => options[name] === value)) return options;
  return Object.assign(Object.create(Object.getPrototypeOf(options)), options, Object.fromEntries(nested));
}

module.exports = { CALL, CLOSE, LISTING, PROMPT, SESSION, checked, checkedLaunch };
