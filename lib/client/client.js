'use strict';

const { AcpError } = require('../errors.js');
const native = require('../native/index.js');
const { reasonOf } = require('../native/abort.js');
const { invalid, string, whole } = require('../native/options.js');
const { CALL, CLOSE, LISTING, SESSION, checked, checkedLaunch } = require('./arguments.js');
const { clean } = require('../clean.js');
const { initial } = require('./config-options.js');
const { handlersOf, nativeOptions } = require('./launch-options.js');
const { loginCommand } = require('./login.js');
const { McpServers } = require('./mcp.js');
const { AcpSession } = require('./session.js');
const unstable = require('./unstable.js');

const REQUEST_TIMEOUT_MS = 60_000;
const CANCEL_GRACE_MS = 10_000;
/** Pages of a listing after which a cursor that leads nowhere is no longer followed. */
const MAX_PAGES = 10_000;
/** The longest cursor, in UTF-16 code units: those of all pages are remembered. */
const MAX_CURSOR = 16_384;

/** A launched agent and the connection to it. */
class AcpClient {
  /** @type {Set<AcpSession>} */
  #sessions = new Set();
  /** @type {Promise<any> | undefined} */
  #closing;
  /** @type {import('../../types/client').LaunchOptions} */
  #launch;
  /** @type {McpServers} */
  #mcp;

  /**
   * @param {import('../native/client').Client} nativeClient
   * @param {import('../../types/client').LaunchOptions} options
   * @param {McpServers} mcp
   * @internal
   */
  constructor(nativeClient, options, mcp) {
    /** @internal */
    this.native = nativeClient;
    this.#mcp = mcp;
    mcp.attach(nativeClient);
    this.#launch = options;
    /** @internal */
    this.cwd = options.cwd;
    /** @internal */
    this.cancelGraceMs = whole(options.cancelGraceMs, 'cancelGraceMs') ?? CANCEL_GRACE_MS;
    /** @internal */
    this.requestTimeoutMs = whole(options.requestTimeoutMs, 'requestTimeoutMs') ?? REQUEST_TIMEOUT_MS;
    /** Whether sessions keep a merged state. @internal */
    this.keepsState = options.state !== false;
    /** Whether the agent has ended. @internal */
    this.ended = false;
    const { pid, protocolVersion, agentInfo, agentCapabilities, authMethods, _meta: meta } = nativeClient.facts;
    this.pid = pid;
    this.protocolVersion = protocolVersion;
    this.agentInfo = clean(agentInfo ?? undefined);
    this.agentCapabilities = clean(agentCapabilities);
    this.authMethods = clean(authMethods);
    this.meta = meta;
    this.closed = nativeClient.closed.then((exit) => {
      this.#onEnd();
      return exit;
    });
  }

  /**
   * @param {import('../../types/client').LaunchOptions} given
   * @returns {Promise<AcpClient>}
   */
  static async launch(given) {
    const options = checkedLaunch(given);
    const mcp = new McpServers();
    const nativeClient = await native.launch(nativeOptions(options), handlersOf(options, mcp));
    const client = new AcpClient(nativeClient, options, mcp);
    if (options.authenticate === true && client.authMethods.length > 0) {
      const method = client.authMethods.find((/** @type {any} */ candidate) => candidate.type !== 'terminal');
      try {
        if (method !== undefined) await client.authenticate(method.id, { meta: { headless: true }, signal: options.signal });
      } catch (error) {
        await client.close();
        throw error;
      }
    }
    return client;
  }

  #onEnd() {
    this.ended = true;
    for (const session of [...this.#sessions]) session.onClientEnd();
  }

  /** @param {AcpSession} session @internal */
  forget(session) {
    this.#sessions.delete(session);
    this.#mcp.release(session);
  }

  /** @param {import('../../types/client').NewSessionOptions} [options] */
  newSession(options = {}) {
    return this.#open('session/new', undefined, options);
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').LoadSessionOptions} [options]
   */
  loadSession(sessionId, options = {}) {
    return this.#open('session/load', sessionId, options);
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').LoadSessionOptions} [options]
   */
  resumeSession(sessionId, options = {}) {
    return this.#open('session/resume', sessionId, options);
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').ForkSessionOptions} [options]
   */
  forkSession(sessionId, options = {}) {
    return this.#open('session/fork', sessionId, options);
  }

  /**
   * @param {string} method
   * @param {string | undefined} sessionId
   * @param {import('../../types/client').ForkSessionOptions} given
   */
  async #open(method, sessionId, given) {
    if (sessionId !== undefined || method !== 'session/new') string(sessionId, 'sessionId');
    const options = checked(given, SESSION);
    const { signal, systemPrompt } = options;
    if (signal?.aborted) throw reasonOf(signal);
    const cwd = options.cwd ?? this.cwd;
    const session = new AcpSession(this, cwd, options);
    const request = {
      cwd,
      mcpServers: this.#mcp.declare(options.mcpServers ?? [], session),
      additionalDirectories: options.additionalDirectories,
      systemPrompt:
        typeof systemPrompt === 'string' ? { mode: 'append', content: [{ type: 'text', text: systemPrompt }] } : systemPrompt,
      configOptions: initial(options.configOptions),
      cursorId: options.cursorId,
      // What nobody listens to does not cross.
      discardReplay: options.replay === false || options.onReplay === undefined,
      _meta: options.meta,
      timeoutMs: whole(options.timeoutMs, 'timeoutMs') ?? this.requestTimeoutMs,
      state: this.keepsState,
    };
    try {
      await session.open(method, sessionId, request, { signal, coalesce: options.coalesce === true });
    } catch (error) {
      this.#mcp.release(session);
      throw error;
    }
    if (this.ended) session.onClientEnd();
    else this.#sessions.add(session);
    return session;
  }

  /** @param {import('../../types/client').ListSessionsOptions} [options] */
  async *listSessions(options = {}) {
    const { cwd, archived, ...call } = checked(options, LISTING);
    const seen = new Set();
    let cursor;
    for (let page = 0; page < MAX_PAGES; page++) {
      /** @type {any} */
      const params = {};
      if (cwd !== undefined) params.cwd = cwd;
      if (archived !== undefined) params.archived = archived;
      if (cursor !== undefined) params.cursor = cursor;
      /** @type {any} */
      const result = await this.request('session/list', params, call);
      if (result === null || typeof result !== 'object' || !Array.isArray(result.sessions)) {
        throw new AcpError('malformed_response', 'the agent did not return a list of sessions', { phase: 'session' });
      }
      yield* clean(result.sessions);
      cursor = result.nextCursor ?? undefined;
      if (cursor !== undefined && (typeof cursor !== 'string' || cursor.length > MAX_CURSOR)) {
        throw new AcpError('malformed_response', 'the agent returned no usable cursor', { phase: 'session' });
      }
      // The cursor is the agent's own; one that comes back would never end.
      if (cursor === undefined || seen.has(cursor)) return;
      seen.add(cursor);
    }
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async deleteSession(sessionId, options) {
    string(sessionId, 'sessionId');
    await this.#call('session/delete', { sessionId }, options, { closeSession: sessionId });
    for (const session of [...this.#sessions]) if (session.id === sessionId) session.onDelete();
  }

  /**
   * @param {string} methodId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async authenticate(methodId, options = {}) {
    const method = this.authMethods.find((/** @type {any} */ candidate) => candidate.id === methodId);
    if (method === undefined) throw new AcpError('invalid_argument', 'the agent does not advertise this method', { phase: 'authenticate' });
    if (/** @type {any} */ (method).type === 'terminal') {
      const text = 'a terminal method is run by a person in a terminal, not by a call';
      throw new AcpError('invalid_argument', text, { phase: 'authenticate' });
    }
    await this.#call('authenticate', { methodId }, options, { phase: 'authenticate' });
  }

  /** @param {string} methodId */
  loginCommand(methodId) {
    return loginCommand(this.authMethods, methodId, this.#launch);
  }

  /** @param {import('../../types/client').CallOptions} [options] */
  async logout(options) {
    await this.#call('logout', {}, options, { phase: 'authenticate' });
  }

  /** @param {import('../../types/client').CallOptions} [options] */
  async authStatus(options) {
    return unstable.authStatusOf(await this.#call('auth/status', {}, options, { phase: 'authenticate' }));
  }

  /** @param {import('../../types/client').CallOptions} [options] */
  listProviders(options) {
    return unstable.listProviders(this.#unstable, options);
  }

  /**
   * @param {import('../../types/unstable').ProviderSettings} provider
   * @param {import('../../types/client').CallOptions} [options]
   */
  setProvider(provider, options) {
    return unstable.setProvider(this.#unstable, provider, options);
  }

  /**
   * @param {string} providerId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async disableProvider(providerId, options) {
    await this.#call('providers/disable', { providerId: string(providerId, 'providerId') }, options);
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').CallOptions} [options]
   */
  sessionStatus(sessionId, options) {
    return unstable.sessionStatus(this.#unstable, sessionId, options);
  }

  /** @param {import('../../types/unstable').SessionOptionsQuery} [where] */
  sessionOptions(where = {}) {
    return unstable.sessionOptions(this.#unstable, where, this.cwd);
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async archiveSession(sessionId, options) {
    await this.#call('session/archive', { sessionId: string(sessionId, 'sessionId') }, options);
  }

  /**
   * @param {string} sessionId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async unarchiveSession(sessionId, options) {
    await this.#call('session/unarchive', { sessionId: string(sessionId, 'sessionId') }, options);
  }

  /**
   * @param {string} sessionId
   * @param {string} title
   * @param {import('../../types/client').CallOptions} [options]
   */
  setSessionTitle(sessionId, title, options) {
    return unstable.setSessionTitle(this.#unstable, sessionId, title, options);
  }

  /** @type {import('./unstable').Call} */
  #unstable = (method, params, options) => {
    const { secrets, ...call } = options ?? {};
    return this.#call(method, params, call, { secrets });
  };

  /**
   * @param {string} method
   * @param {unknown} [params]
   * @param {import('../../types/client').CallOptions} [options]
   * @returns {Promise<any>}
   */
  request(method, params, options) {
    return this.#call(method, params, options, {});
  }

  /**
   * @param {string} method
   * @param {unknown} params
   * @param {import('../../types/client').CallOptions} [options]
   * @param {{ phase?: string, closeSession?: string, secrets?: string[] }} [more]
   * @returns {Promise<any>}
   */
  async #call(method, params, options, more = {}) {
    const { signal, meta, ...limits } = checked(options, CALL);
    const timeoutMs = whole(limits.timeoutMs, 'timeoutMs') ?? this.requestTimeoutMs;
    if (params !== undefined && (params === null || typeof params !== 'object')) throw invalid('params must be an object or a list');
    if (meta !== undefined && Array.isArray(params)) throw invalid('params must be an object where there is meta');
    const sent = meta === undefined ? params : { ...params, _meta: meta };
    return this.native.call(method, sent, { ...more, timeoutMs, signal });
  }

  /**
   * @param {string} method
   * @param {unknown} [params]
   */
  notify(method, params) {
    this.native.notify(method, params);
  }

  stderr() {
    return this.native.stderr();
  }

  diagnostics() {
    return this.native.diagnostics();
  }

  /** @param {{ graceMs?: number }} [options] */
  async close(options = {}) {
    const { graceMs } = checked(options, CLOSE);
    this.#closing ??= this.native.close({ graceMs }).then((exit) => {
      this.#onEnd();
      return exit;
    });
    return this.#closing;
  }

  kill() {
    this.native.kill();
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

module.exports = { AcpClient };
