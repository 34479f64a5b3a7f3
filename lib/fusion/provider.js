'use strict';

/**
 * Connections and the calls on them. The session helpers call the methods of whatever `conn` they are given.
 *
 * @typedef {import('../../types/connection').AcpConnection} AcpConnection
 * @typedef {import('../../types/connection').ConnectOptions} ConnectOptions
 * @typedef {import('../../types/connection').NewAcpSessionResult} NewAcpSessionResult
 */

const native = require('../native');
const { AcpAuthRequiredError, PROTOCOL_VERSION } = require('../errors.js');
const { createDefaultClientHandler } = require('./client-handler.js');
const { connectionOf } = require('./connection.js');
const { boundIdentifier } = require('./sanitize.js');
const { turnError } = require('./turn-errors.js');

/** Milliseconds. */
const DEFAULT_INITIALIZE_TIMEOUT_MS = 30_000;
/** Milliseconds that `cancelAcpSession` waits at most. */
const CANCEL_WAIT_MS = 2_000;
const DEFAULT_AUTH_META = Object.freeze({ headless: true });

/**
 * A handler's answer as the runtime takes it. Whatever is not a selection cancels.
 *
 * @param {any} response
 */
function permissionDecision(response) {
  const outcome = response?.outcome;
  return outcome?.outcome === 'selected' && typeof outcome.optionId === 'string'
    ? { decision: 'select', optionId: outcome.optionId }
    : { decision: 'cancel' };
}

/**
 * @param {import('../../types/fusion').AcpClientHandler} handler
 * @param {'readTextFile' | 'writeTextFile'} name
 * @returns {((params: any) => Promise<any>) | undefined}
 */
function methodOf(handler, name) {
  return typeof handler[name] === 'function' ? (params) => /** @type {any} */ (handler)[name](params) : undefined;
}

/**
 * @param {ConnectOptions} options
 * @returns {Promise<AcpConnection>}
 */
async function connect(options) {
  const handler = options.clientHandler ?? createDefaultClientHandler();
  const client = await native.launch({
    command: options.binaryPath,
    args: options.args,
    cwd: options.cwd,
    env: options.env,
    offers: {
      readTextFile: options.advertiseFs?.read === true,
      writeTextFile: options.advertiseFs?.write === true,
    },
    relativePaths: true,
    initializeTimeoutMs: options.initializeTimeoutMs ?? DEFAULT_INITIALIZE_TIMEOUT_MS,
    authenticate: options.authenticate ? authenticateOptions(options.authenticate) : undefined,
    nodeSpawnErrors: true,
  }, {
    permission: async (request) => permissionDecision(await handler.requestPermission(request)),
    // A handler that serves files serves them by its own rules. The runtime reads for one that does not; nobody writes.
    readTextFile: methodOf(handler, 'readTextFile'),
    writeTextFile: methodOf(handler, 'writeTextFile'),
    write: () => false,
    extension: (method, params) => handler.extMethod?.(method, params ?? {}),
    notification: (method, params) => void handler.extNotification?.(method, params ?? {})?.catch(() => {}),
  });
  return connectionOf(client, (sessionId, update) => {
    Promise.resolve(handler.sessionUpdate({ sessionId, update })).catch(() => {});
  });
}

/** @param {import('../../types/connection').AuthenticateAcpOptions} options */
function authenticateOptions({ preferMethods, methodId, meta, require }) {
  return { preferMethods: preferMethods ?? [], methodId, meta: meta ?? DEFAULT_AUTH_META, require: require === true };
}

/**
 * @param {import('../../types/connection').ConnectionWith<'authenticate'> & { authMethods: ReadonlyArray<{ id: string }> }} connection
 * @param {import('../../types/connection').AuthenticateAcpOptions} options
 * @returns {Promise<{ methodId: string } | undefined>}
 */
async function authenticateAcpConnection(connection, options) {
  const advertised = (connection.authMethods ?? []).map((method) => method.id);
  const wanted = [options.methodId, ...(options.preferMethods ?? [])];
  const methodId = wanted.find((id) => id !== undefined && advertised.includes(id));
  if (methodId === undefined) {
    if (options.require === true) throw new AcpAuthRequiredError(advertised);
    return undefined;
  }
  const authenticate = /** @type {(params: any) => Promise<any>} */ (connection.conn.authenticate);
  await authenticate.call(connection.conn, { methodId, _meta: options.meta ?? { ...DEFAULT_AUTH_META } });
  return { methodId };
}

/**
 * @param {any} result
 * @param {string} [known] the id, where the result has none
 * @returns {NewAcpSessionResult}
 */
function sessionResult(result, known) {
  const sessionId = boundIdentifier(known ?? result?.sessionId);
  return { sessionId, ...(result?.modes ? { modes: result.modes } : {}) };
}

/**
 * @param {import('../../types/connection').ConnectionWith<'newSession'>} connection
 * @param {{ cwd: string, mcpServers?: any[], meta?: Record<string, unknown> }} options
 * @returns {Promise<NewAcpSessionResult>}
 */
async function newAcpSession(connection, { cwd, mcpServers, meta }) {
  const hasMeta = meta !== undefined && meta !== null && Object.keys(meta).length > 0;
  const params = { cwd, mcpServers: mcpServers ?? [], ...(hasMeta ? { _meta: meta } : {}) };
  const newSession = /** @type {(params: any) => Promise<any>} */ (connection.conn.newSession);
  return sessionResult(await newSession.call(connection.conn, params));
}

/**
 * @param {import('../../types/connection').ConnectionWith<'newSession' | 'loadSession'> & { agentCapabilities?: { loadSession?: boolean } }} connection
 * @param {{ sessionId: string, cwd: string }} options
 * @returns {Promise<NewAcpSessionResult>}
 */
async function loadAcpSession(connection, { sessionId, cwd }) {
  if (connection.agentCapabilities?.loadSession !== true) return newAcpSession(connection, { cwd });
  const bounded = boundIdentifier(sessionId);
  const loadSession = /** @type {(params: any) => Promise<any>} */ (connection.conn.loadSession);
  return sessionResult(await loadSession.call(connection.conn, { sessionId: bounded, cwd, mcpServers: [] }), bounded);
}

/**
 * @param {import('../../types/connection').ConnectionWith<'prompt'>} connection
 * @param {string} sessionId
 * @param {import('../../protocol').ContentBlock[]} blocks
 * @returns {Promise<string>}
 */
async function promptAcpSession(connection, sessionId, blocks) {
  try {
    const prompt = /** @type {(params: any) => Promise<any>} */ (connection.conn.prompt);
    const result = await prompt.call(connection.conn, { sessionId, prompt: blocks });
    return result?.stopReason;
  } catch (error) {
    throw turnError(error);
  }
}

/**
 * @param {import('../../types/connection').ConnectionWith<'cancel'>} connection
 * @param {string} sessionId
 * @returns {Promise<void>}
 */
async function cancelAcpSession(connection, sessionId) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  try {
    const cancel = /** @type {(params: any) => Promise<any>} */ (connection.conn.cancel);
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, CANCEL_WAIT_MS);
    });
    await Promise.race([cancel.call(connection.conn, { sessionId }), late]);
  } catch {
    // Whoever cancels is about to leave anyway.
  } finally {
    clearTimeout(timer);
  }
}

module.exports = {
  DEFAULT_INITIALIZE_TIMEOUT_MS,
  PROTOCOL_VERSION,
  connect,
  authenticateOptions,
  authenticateAcpConnection,
  newAcpSession,
  loadAcpSession,
  promptAcpSession,
  cancelAcpSession,
};
