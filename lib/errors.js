'use strict';

/**
 * The error classes, and the one place that turns a native failure into one of them.
 *
 * @typedef {import('../types/errors').AcpErrorCode} AcpErrorCode
 * @typedef {import('../types/errors').AcpErrorInit} AcpErrorInit
 * @typedef {import('../types/errors').AcpErrorPhase} AcpErrorPhase
 * @typedef {import('../types/errors').SpawnErrorCode} SpawnErrorCode
 */

/** The protocol version that this client speaks. */
const PROTOCOL_VERSION = 1;

/** How many of an agent's authentication methods a message names. */
const SHOWN_METHODS = 32;

/** The optional members of an error: own properties only where they are known. */
const OPTIONAL = /** @type {const} */ (['phase', 'rpc', 'exit', 'stderrTail', 'partialText', 'extra']);

/**
 * Gives a class its name: on the prototype, as the built-in errors have it, and safe from minifiers.
 *
 * @param {Function} errorClass
 * @param {string} name
 */
function nameClass(errorClass, name) {
  Object.defineProperty(errorClass.prototype, 'name', { value: name, configurable: true, writable: true });
}

class AcpError extends Error {
  /**
   * @param {AcpErrorCode} code
   * @param {string} message
   * @param {AcpErrorInit} [init]
   */
  constructor(code, message, init = {}) {
    super(message, 'cause' in init ? { cause: init.cause } : undefined);
    /** @type {any} */
    this.code = code;
    this.retryable = init.retryable === true;
    this.promptMayHaveBeenSent = init.promptMayHaveBeenSent === true;
    for (const key of OPTIONAL) {
      if (init[key] !== undefined) /** @type {any} */ (this)[key] = init[key];
    }
  }
}

class AcpSpawnError extends AcpError {
  /**
   * @param {SpawnErrorCode} code
   * @param {string} path
   * @param {AcpErrorInit} [init]
   */
  constructor(code, path, init) {
    // Word for word what Node's `spawn` says: callers classify this text as a failure to start.
    super(code, init?.message ?? `spawn ${path} ${code}`, { phase: 'spawn', ...init });
    this.syscall = `spawn ${path}`;
    this.path = path;
  }
}

class IncompatibleProtocolError extends AcpError {
  /**
   * @param {number} agentProtocolVersion
   * @param {number} [expected]
   * @param {AcpErrorInit} [init]
   */
  constructor(agentProtocolVersion, expected = PROTOCOL_VERSION, init) {
    const text = `ACP agent negotiated incompatible protocol version ${printable(agentProtocolVersion)} `
      + `(client supports ${expected})`;
    super('incompatible_protocol', init?.message ?? text, { phase: 'initialize', ...init });
    this.agentProtocolVersion = agentProtocolVersion;
    this.expected = expected;
  }
}

class HandshakeTimeoutError extends AcpError {
  /**
   * @param {number} timeoutMs
   * @param {AcpErrorInit} [init]
   */
  constructor(timeoutMs, init) {
    const text = `ACP initialize handshake timed out after ${timeoutMs}ms`;
    super('handshake_timeout', init?.message ?? text, { phase: 'initialize', retryable: true, ...init });
    this.timeoutMs = timeoutMs;
  }
}

class AcpAuthRequiredError extends AcpError {
  /**
   * @param {readonly string[]} availableMethodIds
   * @param {AcpErrorInit} [init]
   */
  constructor(availableMethodIds, init) {
    const what = availableMethodIds.length > 0
      ? `no preferred method matched (available: ${availableMethodIds.slice(0, SHOWN_METHODS).map(shown).join(', ')})`
      : 'advertised no auth methods';
    const text = `ACP agent requires authentication but ${what}`;
    super('acp_auth_required', init?.message ?? text, { phase: 'authenticate', ...init });
    this.availableMethodIds = [...availableMethodIds];
  }
}

class MissingAcpEnvError extends AcpError {
  /**
   * @param {readonly string[]} missingKeys
   * @param {AcpErrorInit} [init]
   */
  constructor(missingKeys, init) {
    const text = `Missing required ACP environment variable(s): ${missingKeys.join(', ')}`;
    super('ACP_MISSING_ENV', init?.message ?? text, { phase: 'spawn', ...init });
    this.missingKeys = [...missingKeys];
  }
}

class FsContentTooLargeError extends AcpError {
  /** @param {number} limitBytes */
  constructor(limitBytes) {
    super('content_too_large', `fs write content exceeds the ${limitBytes}-byte ceiling`);
    this.limitBytes = limitBytes;
  }
}

class FsWriteDeniedError extends AcpError {
  /** @param {string} message */
  constructor(message) {
    super('write_denied', message);
  }
}

class PathJailError extends AcpError {
  /**
   * @param {import('../types/errors').PathJailErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(code, message);
  }
}

const classes = {
  AcpError,
  AcpSpawnError,
  IncompatibleProtocolError,
  HandshakeTimeoutError,
  AcpAuthRequiredError,
  MissingAcpEnvError,
  FsContentTooLargeError,
  FsWriteDeniedError,
  PathJailError,
};
for (const [name, errorClass] of Object.entries(classes)) nameClass(errorClass, name);

/**
 * An agent's identifier for a message: no control characters, at most 256 UTF-16 code units.
 *
 * @param {string} id
 * @returns {string}
 */
function shown(id) {
  return id.slice(0, 256).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '');
}

/**
 * A version number as text. What an agent sends instead of a number is shown as JSON and bounded.
 *
 * @param {unknown} value
 * @returns {string}
 */
function printable(value) {
  if (typeof value === 'number' || value === undefined) return String(value);
  return (JSON.stringify(value) ?? String(value)).slice(0, 64);
}

/**
 * The codes of the native side, each with the code that the host sees. They differ where a class existed before this
 * package: its callers compare the older spelling.
 *
 * @type {Readonly<Record<string, AcpErrorCode>>}
 */
const HOST_CODES = Object.freeze({
  missing_binary: 'missing_binary',
  spawn_error: 'spawn_error',
  missing_env: 'ACP_MISSING_ENV',
  handshake_timeout: 'handshake_timeout',
  incompatible_protocol: 'incompatible_protocol',
  auth_required: 'acp_auth_required',
  agent_exited: 'agent_exited',
  connection_closed: 'connection_closed',
  agent_error: 'agent_error',
  malformed_response: 'malformed_response',
  invalid_argument: 'invalid_argument',
  unsupported_capability: 'unsupported_capability',
  timeout: 'timeout',
  turn_stalled: 'turn_stalled',
  turn_in_progress: 'turn_in_progress',
  session_already_open: 'session_already_open',
  session_unusable: 'session_unusable',
  aborted: 'aborted',
  client_closed: 'client_closed',
  abnormal_stop: 'abnormal_stop',
  sign_in_required: 'sign_in_required',
  internal_error: 'internal_error',
});

/** The system's codes that a failed start can have. @type {readonly SpawnErrorCode[]} */
const SPAWN_CODES = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'EPERM', 'E2BIG', 'EAGAIN', 'EMFILE', 'ENOMEM'];

/** @typedef {Record<string, any>} NativeDetails the native failure: `error::Details` as an object */

/**
 * @param {NativeDetails} details
 * @param {FromNativeOptions} options
 * @returns {AcpErrorInit}
 */
function initOf(details, options) {
  /** @type {Record<string, unknown>} */
  const init = {
    retryable: details.retryable === true,
    promptMayHaveBeenSent: details.promptMayHaveBeenSent === true,
  };
  for (const key of OPTIONAL) {
    // Absent and null are the same to the native side; an absent phase must not hide the class's own.
    if (details[key] !== undefined && details[key] !== null) init[key] = details[key];
  }
  if ('cause' in options) init.cause = options.cause;
  return init;
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
function strings(value) {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/**
 * A failed start. The system's error is the `cause`; the Fusion-shaped `connect()` reports it as Node does.
 *
 * @param {NativeDetails} details
 * @param {AcpErrorInit} init
 * @param {FromNativeOptions} options
 * @returns {AcpError}
 */
function spawnFailure(details, init, options) {
  const extra = details.extra ?? {};
  // What was asked for, as Node names it; where it was found is in `extra`.
  const path = options.command ?? (typeof extra.path === 'string' ? extra.path : undefined);
  const fallback = details.code === 'missing_binary' ? 'ENOENT' : undefined;
  const code = SPAWN_CODES.find((known) => known === extra.systemCode) ?? fallback;
  if (!code || path === undefined) return new AcpError(HOST_CODES[details.code], String(details.message), init);
  if (options.nodeSpawnErrors) {
    // Its own message has no room for what is the matter with the file.
    if (!('cause' in init)) init.cause = new AcpError(HOST_CODES[details.code], String(details.message), init);
    return new AcpSpawnError(code, path, init);
  }
  if (!('cause' in init)) {
    const cause = new Error(`spawn ${path} ${code}`);
    init.cause = Object.assign(cause, { code, syscall: `spawn ${path}`, path });
  }
  return new AcpError(HOST_CODES[details.code], String(details.message), init);
}

/**
 * The methods that an agent advertised: the plain ids, or the agent's own list.
 *
 * @param {Record<string, any>} extra
 * @returns {string[]}
 */
function methodIds(extra) {
  if (Array.isArray(extra.availableMethodIds)) return strings(extra.availableMethodIds);
  return Array.isArray(extra.authMethods) ? strings(extra.authMethods.map((method) => method?.id)) : [];
}

/**
 * @typedef {object} FromNativeOptions
 * @property {string} [command] the program that was to be started, as the caller named it
 * @property {boolean} [nodeSpawnErrors] report a failed start as `AcpSpawnError`, with the system's code
 * @property {unknown} [cause] the error to name as the cause
 */

/**
 * Builds the error for a native failure.
 *
 * @param {NativeDetails | string} native `error::Details`, as an object or as JSON
 * @param {FromNativeOptions} [options]
 * @returns {AcpError}
 */
function fromNative(native, options = {}) {
  const details = parse(native);
  // What the agent said, cleaned as everything of it that is shown. Whoever loads only the classes loads no addon.
  require('./clean.js').clean(details);
  const init = initOf(details, options);
  const extra = details.extra ?? {};
  const message = typeof details.message === 'string' ? details.message : '';
  switch (details.code) {
    case 'incompatible_protocol': {
      // The native side has no `undefined`: a version that the agent left out arrives as null.
      const version = extra.agentProtocolVersion ?? undefined;
      return new IncompatibleProtocolError(version, extra.expected ?? PROTOCOL_VERSION, init);
    }
    case 'handshake_timeout':
      if (typeof extra.timeoutMs !== 'number') break;
      // The native message begins with the class's own, and goes on with what was heard until then.
      return new HandshakeTimeoutError(extra.timeoutMs, message === '' ? init : { ...init, message });
    case 'auth_required': {
      // The agent's own words, when it was the agent that asked for authentication.
      const told = init.rpc && message !== '' ? { ...init, message } : init;
      return new AcpAuthRequiredError(methodIds(extra), told);
    }
    case 'missing_env':
      return new MissingAcpEnvError(strings(extra.missingKeys), init);
    case 'missing_binary':
    case 'spawn_error':
      return spawnFailure(details, init, options);
    default:
  }
  const code = Object.hasOwn(HOST_CODES, details.code) ? HOST_CODES[details.code] : 'internal_error';
  return new AcpError(code, message || code, init);
}

/**
 * @param {NativeDetails | string} native
 * @returns {NativeDetails}
 */
function parse(native) {
  if (typeof native !== 'string') return native;
  try {
    const details = JSON.parse(native);
    if (details !== null && typeof details === 'object') return details;
  } catch {
    // Falls through: a failure that cannot be read is still reported.
  }
  return { code: 'internal_error', message: native };
}

/** @type {{ [K in keyof typeof classes]: (typeof import('../types/errors'))[K] }} */
const declared = /** @type {any} */ (classes);

/** @type {(native: NativeDetails | string, options?: FromNativeOptions) => import('../types/errors').AcpError} */
const build = /** @type {any} */ (fromNative);

module.exports = { ...declared, fromNative: build, HOST_CODES, PROTOCOL_VERSION };
