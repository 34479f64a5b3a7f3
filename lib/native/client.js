'use strict';

const { fromNative } = require('../errors.js');
const { getHub, heed, Kind } = require('./hub.js');
const { withSignal } = require('./abort.js');
const { closeOptions, json, launchOptions, string, turnOptions } = require('./options.js');
const { Questions } = require('./questions.js');

/**
 * @typedef {import('./questions.js').Handlers} Handlers
 *
 * @typedef {object} Listener
 * @property {(delta: string) => void} [text]
 * @property {(delta: string) => void} [thinking]
 * @property {(name: string, args: any) => void} [toolStart]
 * @property {(name: string, isError: boolean, result: any) => void} [toolEnd]
 * @property {(kind: number, text: string) => void} [event] The events view: segments as they come.
 * @property {(result: any) => void} [opened] The session is open; before anything that it says, but for what a load repeats.
 * @property {() => void} [gone] Nothing follows: the agent is gone, and everything that it said was delivered.
 */

/** One agent process and its connection. */
class Client {
  /**
   * @param {Handlers} handlers
   * @param {string} command
   */
  constructor(handlers, command) {
    this.hub = getHub();
    this.handlers = handlers;
    this.questions = new Questions(handlers);
    this.command = command;
    /** @type {any} */
    this.native = undefined;
    /** @type {any} */
    this.facts = undefined;
    this.pid = 0;
    /** Whether the whole tree is known to be gone, and how the agent ended. */
    this.exit = undefined;
    /** Promises of this client that have not settled. */
    this.pending = 0;
    /** Whether nothing of the agent follows: it is gone, or never started. */
    this.over = false;
    /** @type {Set<Session>} */
    this.sessions = new Set();
    /** @type {Promise<any>} */
    this.closed = new Promise((resolve) => {
      this.resolveClosed = resolve;
    });
  }

  /**
   * @param {number} kind
   * @param {string} text
   */
  receive(kind, text) {
    switch (kind) {
      case Kind.REPLY:
        this.hub.receiveReply(kind, text);
        break;
      case Kind.REQUEST:
        this.questions.ask(JSON.parse(text));
        break;
      case Kind.NOTIFICATION: {
        const { withdrawn, method, params } = JSON.parse(text);
        if (withdrawn !== undefined) this.questions.withdraw(withdrawn);
        else heed(this.handlers.notification?.(method, params ?? undefined));
        break;
      }
      case Kind.WIRE:
        heed(this.handlers.wire?.(JSON.parse(text)));
        break;
      case Kind.CLOSED:
        this.exit = JSON.parse(text);
        this.questions.withdrawAll();
        this.resolveClosed?.(this.exit);
        this.over = true;
        this.retire();
        break;
      default:
    }
  }

  /**
   * A promise that settles on one of this client's channels.
   *
   * @template T
   * @param {(token: number) => void} start
   * @param {object} [context]
   * @param {(value: T) => void} [now] See the hub's.
   * @returns {Promise<T>}
   */
  promise(start, context, now) {
    this.pending += 1;
    /** @type {Promise<T>} */
    const promise = this.hub.promise(start, context, now);
    const settled = () => {
      this.pending -= 1;
      this.retire();
    };
    promise.then(settled, settled);
    return promise;
  }

  /** Lets the channels go once nothing can come through them. Whatever is asked later is answered through the hub's own. */
  retire() {
    if (!this.over || this.pending > 0 || this.native === undefined) return;
    for (const { channel } of this.sessions) this.hub.retire(channel);
    this.sessions.clear();
    this.hub.retire(this.native.channel);
  }

  /**
   * Calls a method; resolves with the agent's result.
   *
   * @param {string} method
   * @param {unknown} params
   * @param {{ phase?: string, timeoutMs?: number, closeSession?: string, secrets?: string[], signal?: any }} [options]
   * @returns {Promise<any>}
   */
  call(method, params, options = {}) {
    const { phase = 'session', timeoutMs = 0, closeSession, secrets, signal } = options;
    let call = 0;
    const start = () =>
      this.promise((token) => {
        const encoded = params === undefined ? undefined : json(params, 'params');
        call = this.native.call(token, string(method, 'method'), encoded, JSON.stringify({ phase, timeoutMs, closeSession, secrets }));
      });
    return withSignal(signal, start, () => this.native.abandon(call));
  }

  /**
   * @param {string} method
   * @param {unknown} params
   */
  notify(method, params) {
    const failure = this.native.notify(string(method, 'method'), params === undefined ? undefined : json(params, 'params'));
    if (failure !== null) throw fromNative(failure);
  }

  /**
   * Sends what an MCP server of the host tells of a request that it has not answered yet.
   *
   * @param {string} serverId
   * @param {string} requestId
   * @param {string} method
   * @param {unknown} params
   */
  notifyMcp(serverId, requestId, method, params) {
    this.native.notifyMcp(serverId, requestId, method, params === undefined ? undefined : json(params, 'params'));
  }

  /**
   * Opens a session.
   *
   * @param {string} method `session/new`, `session/load`, `session/resume` or `session/fork`
   * @param {string | undefined} sessionId Where it starts from.
   * @param {object} request
   * @param {{ callbacks?: boolean, coalesce?: boolean, signal?: any }} view
   * @param {Listener} listener
   * @returns {Promise<Session>}
   */
  async open(method, sessionId, request, view, listener) {
    const session = new Session(this, listener);
    session.coalesce = view.coalesce === true;
    const { signal } = view;
    let call = 0;
    const start = async () => {
      try {
        const opened = (/** @type {any} */ result) => {
          session.result = result;
          session.id = result?.sessionId ?? sessionId ?? '';
          listener.opened?.(result);
        };
        await this.promise((token) => {
          const callbacks = view.callbacks === true;
          const encoded = json(request, "the session's options");
          const opening = this.native.openSession(token, method, sessionId, encoded, callbacks);
          ({ channel: session.channel, call } = opening);
          this.hub.channels.set(session.channel, session);
          this.sessions.add(session);
        }, undefined, opened);
      } catch (error) {
        // Only now: the failure comes through the channel.
        session.closeChannel();
        throw error;
      }
      // Its opening was too far to be stopped.
      if (signal?.aborted) session.discard();
    };
    await withSignal(signal, start, () => this.native.abandon(call));
    return session;
  }

  stderr() {
    return this.native.stderr();
  }

  diagnostics() {
    return JSON.parse(this.native.diagnostics());
  }

  /**
   * Ends the agent; resolves when its whole tree is gone.
   *
   * @param {{ graceMs?: number, termGraceMs?: number, turnGraceMs?: number }} [options]
   */
  close(options = {}) {
    const encoded = JSON.stringify(closeOptions(options));
    const closed = this.promise((token) => this.native.close(token, encoded));
    // Whoever waits for the end knows it as soon as whoever asked for it.
    if (!this.over) closed.then((exit) => this.facts && this.resolveClosed?.(exit), () => {});
    return closed;
  }

  /** Kills the whole tree, synchronously. */
  kill() {
    this.native.kill();
  }
}

/** One session's channel. */
class Session {
  /**
   * @param {Client} client
   * @param {Listener} listener
   */
  constructor(client, listener) {
    this.client = client;
    this.listener = listener;
    this.channel = 0;
    this.coalesce = false;
    this.id = '';
    /** @type {any} */
    this.result = undefined;
    /** The text of the turn whose reply comes next. @type {string | undefined} */
    this.turnText = undefined;
    /** Turns whose end is still to come, on this channel. */
    this.turns = 0;
    this.dropped = false;
  }

  /**
   * @param {number} kind
   * @param {string} text
   */
  receive(kind, text) {
    switch (kind) {
      case Kind.REPLY: {
        const { turnText } = this;
        this.turnText = undefined;
        this.client.hub.receiveReply(kind, text, turnText);
        break;
      }
      case Kind.TURN_TEXT:
        this.turnText = text;
        break;
      case Kind.REQUEST:
        if (this.dropped) break;
        this.client.questions.ask(JSON.parse(text), this);
        break;
      case Kind.NOTIFICATION:
        this.client.receive(kind, text);
        break;
      default:
        if (this.listener.event === undefined) this.tell(kind, text);
        else this.listener.event(kind, text);
    }
  }

  gone() {
    this.listener.gone?.();
  }

  /**
   * For a host that takes callbacks.
   *
   * @param {number} kind
   * @param {string} text
   */
  tell(kind, text) {
    const { listener } = this;
    switch (kind) {
      case Kind.TEXT:
        listener.text?.(text);
        break;
      case Kind.THOUGHT:
        listener.thinking?.(text);
        break;
      case Kind.TOOL_START: {
        if (listener.toolStart === undefined) break;
        const { name, args } = JSON.parse(text);
        listener.toolStart(name, args ?? {});
        break;
      }
      case Kind.TOOL_END: {
        if (listener.toolEnd === undefined) break;
        const { name, isError, result } = JSON.parse(text);
        listener.toolEnd(name, isError, result);
        break;
      }
      default:
    }
  }

  /**
   * Runs a turn; resolves after everything that it said was delivered.
   *
   * @param {unknown[]} blocks
   * @param {{ timeoutMs?: number, idleTimeoutMs?: number, settleMs?: number }} [options]
   * @returns {Promise<any>}
   */
  prompt(blocks, options = {}) {
    return this.start(encodePrompt(blocks, options));
  }

  /**
   * The same with what `encodePrompt` made.
   *
   * @param {EncodedPrompt} prompt
   * @returns {Promise<any>}
   */
  start({ blocks, limits }) {
    const { native } = this.client;
    this.turns += 1;
    const turn = this.client.promise((token) => native.prompt(token, this.channel, this.id, blocks, limits));
    const over = (/** @type {any} */ outcome) => {
      this.turns -= 1;
      if (outcome?.stopReason === 'cancelled') this.client.questions.refuseOf(this);
      if (this.dropped && this.turns === 0) this.closeChannel();
    };
    turn.then(over, () => over({ stopReason: 'cancelled' }));
    return turn;
  }

  /**
   * @param {number} graceMs
   * @returns {Promise<'cancelled' | 'forced' | 'idle'>}
   */
  cancel(graceMs) {
    const { native, questions } = this.client;
    questions.refuseOf(this);
    return this.client.promise((token) => native.cancel(token, this.id, graceMs));
  }

  /**
   * Cancels what a child session does; resolves when the agent has been told.
   *
   * @param {string} child
   * @returns {Promise<void>}
   */
  async cancelChild(child) {
    const { native } = this.client;
    await this.client.promise((token) => native.cancelChild(token, this.id, child));
  }

  /**
   * What is known of the session, where its request asked for it with `state`.
   *
   * @returns {{ read: (known: number) => string | null } | null}
   */
  state() {
    return this.client.native.sessionState(this.id);
  }

  /** @param {boolean} paused */
  setPaused(paused) {
    this.client.hub.native.setPaused(this.channel, paused);
  }

  /** Forgets the session; nothing more is delivered but the end of a turn that runs. */
  drop() {
    this.dropped = true;
    this.listener = {};
    this.client.native.dropSession(this.channel, this.id);
    this.client.sessions.delete(this);
    this.client.questions.withdrawOf(this);
    if (this.turns === 0) this.closeChannel();
    else this.setPaused(false);
  }

  /** Forgets a session that nobody wants, and closes it where the agent can. */
  discard() {
    const { client, id } = this;
    this.drop();
    if (!client.facts.agentCapabilities?.sessionCapabilities?.close) return;
    client.call('session/close', { sessionId: id }, { timeoutMs: 10_000 }).catch(() => {});
  }

  closeChannel() {
    if (this.channel === 0) return;
    this.client.hub.channels.delete(this.channel);
    this.client.sessions.delete(this);
    this.client.hub.native.closeChannel(this.channel);
  }
}

/**
 * @typedef {object} EncodedPrompt
 * @property {string} blocks
 * @property {string} limits
 */

/**
 * A prompt as it crosses. Throws for what cannot.
 *
 * @param {unknown} blocks
 * @param {{ timeoutMs?: number, idleTimeoutMs?: number, settleMs?: number, meta?: unknown }} [options]
 * @returns {EncodedPrompt}
 */
function encodePrompt(blocks, options = {}) {
  return { blocks: json(blocks, 'the prompt'), limits: json(turnOptions(options), "the prompt's options") };
}

/**
 * Launches an agent.
 *
 * @param {Record<string, any>} options See `launchOptions`; `nodeSpawnErrors` gives failures to start the codes of Node's `spawn`.
 * @param {Handlers} [handlers]
 * @returns {Promise<Client>}
 */
async function launch(options, handlers = {}) {
  const native = {
    ...launchOptions(options),
    askPermission: handlers.permission !== undefined,
    askWrite: handlers.write !== undefined,
    serveRead: handlers.readTextFile !== undefined,
    serveWrite: handlers.writeTextFile !== undefined,
    askCommand: handlers.command !== undefined,
    askExtension: handlers.extension !== undefined,
    wire: handlers.wire !== undefined,
  };
  const client = new Client(handlers, options.command);
  const context = { command: options.command, nodeSpawnErrors: options.nodeSpawnErrors === true };
  const start = () =>
    client.promise((token) => {
      client.native = client.hub.native.launch(json(native, 'the options of the launch'), token);
      client.hub.channels.set(client.native.channel, client);
    }, context);
  try {
    client.facts = await withSignal(options.signal, start, () => client.close({ graceMs: 0 }));
  } catch (error) {
    client.over = true;
    client.retire();
    throw error;
  }
  client.pid = client.facts.pid;
  return client;
}

/**
 * @param {object} options
 * @returns {Promise<any>}
 */
function ask(options) {
  const hub = getHub();
  return hub.promise((token) => hub.native.ask(JSON.stringify(options), token));
}

/**
 * @param {object} options
 * @returns {Promise<any>}
 */
function probe(options) {
  const hub = getHub();
  return hub.promise((token) => hub.native.probe(JSON.stringify(options), token));
}

module.exports = { launch, ask, probe, encodePrompt, Client, Session };
