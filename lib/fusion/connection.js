'use strict';

/**
 * One agent in the shape of a connection: `conn` with the protocol's methods, `child` like Node's child process.
 *
 * @typedef {import('../../types/connection').AcpConnection} AcpConnection
 * @typedef {import('../native/client').Client} Client
 * @typedef {import('../native/client').Session} Session
 */

const { EventEmitter } = require('node:events');
const { Kind } = require('../native');
const { reportListener } = require('../native/hub.js');

/** Milliseconds after a cancel until a turn that goes on regardless is given up. */
const CANCEL_GRACE_MS = 30_000;
const AUTHENTICATE_TIMEOUT_MS = 60_000;

/** The agent's process, as far as the outside needs it. */
class AgentChild extends EventEmitter {
  /** @param {Client} client */
  constructor(client) {
    super();
    this.client = client;
    this.killed = false;
    /** @type {number | null} */
    this.exitCode = null;
    /** @type {string | null} */
    this.signalCode = null;
    /** @type {Promise<void> | undefined} */
    this.gone = undefined;
    client.closed.then((/** @type {any} */ exit) => {
      this.exitCode = exit?.exitCode ?? null;
      this.signalCode = exit?.signal ?? null;
      try {
        this.emit('exit', this.exitCode, this.signalCode);
      } catch (error) {
        reportListener(error);
      }
    }, () => {});
  }

  get pid() {
    return this.client.pid;
  }

  /** @returns {boolean} */
  kill() {
    this.killed = true;
    this.client.kill();
    // Like a child process that still runs, this keeps Node alive until the whole tree is gone.
    this.gone ??= this.client.close({ graceMs: 0, termGraceMs: 0, turnGraceMs: 0 }).then(() => {}, () => {});
    return true;
  }
}

/** @type {ReadonlyMap<number, string>} */
const CHUNK_TAGS = new Map([
  [Kind.TEXT, 'agent_message_chunk'],
  [Kind.THOUGHT, 'agent_thought_chunk'],
  [Kind.USER_TEXT, 'user_message_chunk'],
]);

/**
 * A listener that turns a session's segments back into the protocol's updates.
 *
 * @param {(update: any) => void} show
 */
function updateListener(show) {
  let messageId = '';
  return {
    /** @param {number} kind @param {string} text */
    event(kind, text) {
      if (kind === Kind.MESSAGE_ID) {
        messageId = text;
      } else if (kind === Kind.UPDATE) {
        show(JSON.parse(text));
      } else if (CHUNK_TAGS.has(kind)) {
        const content = { type: 'text', text };
        show({ sessionUpdate: CHUNK_TAGS.get(kind), content, ...(messageId === '' ? {} : { messageId }) });
      }
    },
  };
}

/** The protocol's methods over a client. */
class ConnectionMethods {
  /**
   * @param {Client} client
   * @param {(sessionId: string, update: any) => void} show
   */
  constructor(client, show) {
    this.client = client;
    this.show = show;
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    for (const name of /** @type {const} */ (['newSession', 'loadSession', 'prompt', 'authenticate', 'cancel'])) {
      // Callers take the methods off the object.
      /** @type {any} */ (this)[name] = this[name].bind(this);
    }
  }

  /** @param {any} params */
  newSession(params) {
    return this.open('session/new', undefined, params);
  }

  /** @param {any} params */
  async loadSession(params) {
    return this.open('session/load', params.sessionId, params);
  }

  /**
   * @param {string} method
   * @param {string | undefined} sessionId
   * @param {any} params
   * @returns {Promise<any>}
   */
  async open(method, sessionId, params) {
    const { cwd, mcpServers = [], additionalDirectories, systemPrompt, _meta } = params;
    // What a new session says may arrive in the same breath as its id.
    let id = sessionId;
    /** @type {any[]} */
    const early = [];
    const listener = updateListener((update) => (id === undefined ? early.push(update) : this.show(id, update)));
    // Here a session has no owner but its id: who loads it anew goes on with it. In a turn that is refused.
    const request = { cwd, mcpServers, additionalDirectories, systemPrompt, _meta, takeOver: true };
    const session = await this.client.open(method, sessionId, request, { callbacks: false }, listener);
    id = session.id;
    this.sessions.get(id)?.drop();
    this.sessions.set(id, session);
    for (const update of early) this.show(id, update);
    return session.result;
  }

  /** @param {any} params */
  async prompt(params) {
    const session = this.sessions.get(params.sessionId);
    if (session === undefined) return this.client.call('session/prompt', params, { phase: 'prompt' });
    const outcome = await session.prompt(params.prompt);
    return outcome.result ?? { stopReason: outcome.stopReason };
  }

  /** @param {any} params */
  authenticate(params) {
    return this.client.call('authenticate', params, { phase: 'authenticate', timeoutMs: AUTHENTICATE_TIMEOUT_MS });
  }

  /** @param {any} params */
  async cancel(params) {
    const session = this.sessions.get(params.sessionId);
    if (session === undefined) this.client.notify('session/cancel', params);
    // As a notification: sent when this resolves, answered when the turn ends.
    else session.cancel(CANCEL_GRACE_MS).catch(() => {});
  }

  /**
   * @param {string} method
   * @param {Record<string, unknown>} params
   */
  extMethod(method, params) {
    return this.client.call(method, params);
  }

  /**
   * @param {string} method
   * @param {Record<string, unknown>} params
   */
  async extNotification(method, params) {
    this.client.notify(method, params);
  }
}

/**
 * @param {Client} client
 * @param {(sessionId: string, update: any) => void} [show] what becomes of updates
 * @returns {AcpConnection & { client: Client }}
 */
function connectionOf(client, show = () => {}) {
  const child = new AgentChild(client);
  return {
    conn: /** @type {any} */ (new ConnectionMethods(client, show)),
    child,
    agentCapabilities: client.facts.agentCapabilities ?? undefined,
    authMethods: client.facts.authMethods ?? [],
    client,
    stderr: () => client.stderr(),
    dispose() {
      if (!child.killed) child.kill();
    },
  };
}

module.exports = { connectionOf };
