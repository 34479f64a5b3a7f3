'use strict';

/**
 * From the options of the typed API to those of the native side.
 *
 * @typedef {import('../../types/client').LaunchOptions} LaunchOptions
 */

const { whole } = require('../native/options.js');
const { clean, visible } = require('../clean.js');
const { elicitationHandler } = require('./elicitation.js');
const { authStatusOf } = require('./unstable.js');

/**
 * @param {LaunchOptions} options
 * @returns {Record<string, any>}
 */
function nativeOptions(options) {
  const { fs, terminal, elicitation } = options;
  const elicits = typeof options.onElicitation === 'function';
  return {
    ...options,
    // `true` means the first method that the agent advertises, which is known after the handshake.
    authenticate: authenticateOf(options.authenticate),
    anyOfferedOption: true,
    offers: {
      readTextFile: fs?.read === true,
      writeTextFile: fs?.write === true,
      terminal: terminal !== undefined && terminal !== false,
      elicitationForm: elicits && elicitation?.form !== false,
      elicitationUrl: elicits && elicitation?.url !== false,
      authTerminal: options.terminalAuth === true,
      richUpdates: options.richUpdates !== false,
      unstable: options.unstable === true,
    },
    readMaxBytes: fs?.readMaxBytes,
    writeMaxBytes: fs?.writeMaxBytes,
    terminalOutputBytes: typeof terminal === 'object' ? terminal.outputByteLimit : undefined,
    maxTerminals: typeof terminal === 'object' ? terminal.maxTerminals : undefined,
  };
}

/** @param {LaunchOptions['authenticate']} authenticate */
function authenticateOf(authenticate) {
  if (authenticate === undefined || typeof authenticate === 'boolean') return undefined;
  const { methodId, preferMethods = [], meta = { headless: true }, require = false, timeoutMs } = authenticate;
  return { methodId, preferMethods, meta, require, timeoutMs: whole(timeoutMs, 'authenticate.timeoutMs') };
}

/**
 * The host's callbacks as the native side calls them.
 *
 * @param {LaunchOptions} options
 * @param {import('./mcp').McpServers} mcp
 * @returns {import('../native/questions').Handlers}
 */
function handlersOf(options, mcp) {
  const { fs, terminal } = options;
  /** @type {import('../native/questions').Handlers} */
  const handlers = {};
  if (options.onPermission) handlers.permission = (request, signal) => decide(options, request, signal);
  const approveWrite = fs?.approveWrite;
  if (approveWrite) handlers.write = (request, signal) => approveWrite.call(fs, { ...request, signal });
  const approve = typeof terminal === 'object' ? terminal.approve : undefined;
  // The command that runs is the runtime's own copy.
  if (approve) handlers.command = (params, signal) => approve.call(terminal, { ...visible(params), signal });
  const { onElicitation } = options;
  if (onElicitation) handlers.elicitation = elicitationHandler((request) => onElicitation.call(options, request));
  if (options.onExtRequest) {
    handlers.extension = (method, params, signal) => options.onExtRequest?.(method, params, { signal });
  }
  handlers.mcp = (message, signal) => mcp.answer(message, signal);
  handlers.notification = (method, params) => {
    if (method === 'elicitation/complete') return options.onElicitationComplete?.(clean(params));
    if (method === 'auth/status_update') return options.onAuthStatus?.(authStatusOf(params));
    return options.onExtNotification?.(method, params);
  };
  if (options.onWire) handlers.wire = (frame) => options.onWire?.(frame);
  return handlers;
}

/**
 * @param {LaunchOptions} options
 * @param {any} request
 * @param {AbortSignal} signal
 */
async function decide(options, request, signal) {
  const limit = whole(options.permissionTimeoutMs, 'permissionTimeoutMs') ?? 0;
  const answer = Promise.resolve(options.onPermission?.({ ...request, signal }));
  return decisionOf(await (limit > 0 ? inTime(answer, limit) : answer));
}

/**
 * @param {Promise<any>} answer
 * @param {number} limit
 */
function inTime(answer, limit) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve('deny'), limit);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** @param {any} answer */
function decisionOf(answer) {
  if (answer === 'allow') return { decision: 'allow' };
  if (answer === null || typeof answer !== 'object') return { decision: 'deny' };
  if (answer.outcome === 'cancelled') return { decision: 'cancel' };
  // `{ optionId }` and the protocol's `{ outcome: 'selected', optionId }`.
  return typeof answer.optionId === 'string' ? { decision: 'select', optionId: answer.optionId } : { decision: 'deny' };
}

module.exports = { nativeOptions, handlersOf };
