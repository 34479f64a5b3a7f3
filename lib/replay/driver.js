'use strict';

const path = require('node:path');

const { newTurn, note } = require('./expected');
const { kindOf } = require('./transcript');

/** @typedef {import('./transcript').Entry} Entry */

/** A message of the recorded client, and how many messages of the agent came before it. */
/** @typedef {Entry & { before: number }} Step */

/** The host of a replay: it does what the recorded host did, when it did it. */
class Driver {
  /**
   * @param {Pick<typeof import('../../index.js'), 'AcpClient'>} api
   * @param {Entry[]} entries
   * @param {string} cwd
   * @param {number} patienceMs
   */
  constructor({ AcpClient }, entries, cwd, patienceMs) {
    this.AcpClient = AcpClient;
    this.cwd = cwd;
    this.patienceMs = patienceMs;
    /** @type {Step[]} */
    this.steps = [];
    /** The agent's requests that no live one was matched with yet. @type {Entry[]} */
    this.questions = [];
    /** Recorded id of an agent's request → the client's answer. @type {Map<unknown, Step>} */
    this.answers = new Map();
    /** Responses of the agent, by how many of its messages came before. @type {{ id: unknown, at: number }[]} */
    this.responses = [];
    /** How many of the responses were waited for. */
    this.awaited = 0;
    let heard = 0;
    for (const entry of entries) {
      if (entry.dir === 'in') {
        if (entry.frame !== undefined && kindOf(entry.frame) === 'request') this.questions.push(entry);
        if (entry.frame !== undefined && kindOf(entry.frame) === 'response') this.responses.push({ id: entry.frame.id, at: heard });
        heard += 1;
      } else if (entry.frame !== undefined) {
        const step = { ...entry, before: heard };
        if (kindOf(entry.frame) === 'response') this.answers.set(entry.frame.id, step);
        else this.steps.push(step);
      }
    }
    this.heard = 0;
    /** Whether the replay goes no further. */
    this.over = false;
    /** Settles then. One for all: whoever waits for nothing else costs nothing. @type {Promise<void>} */
    this.whenOver = new Promise((resolve) => {
      this.resolveOver = resolve;
    });
    /** Whether the agent has said all. */
    this.ended = false;
    /** @type {{ line: number, problem: string } | undefined} */
    this.divergence = undefined;
    /** @type {Set<() => void>} */
    this.waiting = new Set();
    /** Recorded id of a request → its live end, which never rejects. @type {Map<unknown, Promise<unknown>>} */
    this.running = new Map();
    /** @type {Map<unknown, AbortController>} */
    this.controllers = new Map();
    /** @type {Map<string, any>} */
    this.sessions = new Map();
    /** @type {import('./expected').Turn[]} */
    this.turns = [];
  }

  /** Something happened that somebody may wait for. */
  wake() {
    for (const check of this.waiting) check();
  }

  stop() {
    this.over = true;
    this.resolveOver?.();
    this.wake();
  }

  /** @param {number} line @param {string} problem */
  diverge(line, problem) {
    this.divergence ??= { line, problem };
    this.stop();
  }

  /**
   * Waits until something is true or the replay is over.
   *
   * @param {() => boolean} condition
   * @returns {Promise<void>}
   */
  until(condition) {
    return new Promise((resolve) => {
      const check = () => {
        if (!this.over && !condition()) return;
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
      check();
    });
  }

  /**
   * @param {any} launch
   * @param {AbortSignal} [signal]
   */
  async run(launch, signal) {
    const stop = () => this.stop();
    signal?.addEventListener('abort', stop, { once: true });
    let client;
    try {
      client = await this.AcpClient.launch({ ...launch, ...this.options() });
    } catch (error) {
      signal?.throwIfAborted();
      return { turns: [], diagnostics: {}, divergence: this.divergence, error };
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    signal?.addEventListener('abort', stop, { once: true });
    void client.closed.then(stop);
    let diagnostics = {};
    // Between two messages nothing of the client's is pending, and Node would end.
    const alive = setInterval(() => {}, 2 ** 30);
    try {
      await this.play(client);
      await this.until(() => this.ended);
      if (this.divergence === undefined) await this.settled(this.heard);
      diagnostics = client.diagnostics();
    } finally {
      clearInterval(alive);
      signal?.removeEventListener('abort', stop);
      await client.close();
    }
    await Promise.all(this.running.values());
    signal?.throwIfAborted();
    if (!this.ended) this.divergence ??= { line: 0, problem: 'the replay ended before the transcript did' };
    return { turns: this.turns, diagnostics, divergence: this.divergence, error: undefined };
  }

  /** The launch options that the recorded client had, as far as a replay has them. */
  options() {
    const initialize = this.steps.find(({ frame }) => frame.method === 'initialize');
    const capabilities = initialize?.frame.params?.clientCapabilities ?? {};
    const { elicitation } = capabilities;
    return {
      richUpdates: Boolean(capabilities.session ?? capabilities.plan ?? capabilities.subagents),
      terminalAuth: capabilities.auth?.terminal === true,
      requestTimeoutMs: 0,
      // An agent that ignored a cancel does it again; the next recorded message must not be waited for longer than that.
      cancelGraceMs: Math.ceil(this.patienceMs / 4),
      onPermission: (/** @type {any} */ request) => this.onPermission(request),
      ...(elicitation && {
        elicitation: { form: Boolean(elicitation.form), url: Boolean(elicitation.url) },
        onElicitation: async () => (await this.answerTo('elicitation/create'))?.frame.result,
      }),
      onExtRequest: (/** @type {string} */ method) => this.onExtRequest(method),
      onExtNotification: (/** @type {string} */ method, /** @type {any} */ params) => this.onExtNotification(method, params),
      onWire: (/** @type {import('../../types/client').WireFrame} */ { direction, frame }) => {
        if (direction !== 'from_agent' || frame.includes('"_acp_replay/')) return;
        this.heard += 1;
        this.wake();
      },
    };
  }

  /** @param {string} method @param {any} params */
  onExtNotification(method, params) {
    if (method === '_acp_replay/divergence') this.diverge(params.line, params.problem);
    if (method === '_acp_replay/end') {
      this.ended = true;
      this.wake();
    }
  }

  /** @param {any} request */
  async onPermission(request) {
    const step = await this.answerTo('session/request_permission', (frame) =>
      frame.params?.sessionId === request.sessionId && frame.params?.toolCall?.toolCallId === request.toolCall.toolCallId);
    return step?.frame.result?.outcome ?? { outcome: 'cancelled' };
  }

  /** @param {string} method */
  async onExtRequest(method) {
    const step = await this.answerTo(method);
    const { result = null, error } = step?.frame ?? { error: { code: -32601 } };
    if (error === undefined) return result;
    if (error.code === -32601) return undefined;
    throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
  }

  /**
   * The recorded answer to a question of the agent, when its time has come.
   *
   * @param {string} method
   * @param {(frame: any) => boolean} [same] Which of several.
   */
  async answerTo(method, same = () => true) {
    const exact = this.questions.findIndex(({ frame }) => frame.method === method && same(frame));
    const index = exact === -1 ? this.questions.findIndex(({ frame }) => frame.method === method) : exact;
    if (index === -1) return undefined;
    const [{ frame }] = this.questions.splice(index, 1);
    const step = this.answers.get(frame.id);
    if (step === undefined) {
      // The recorded client never answered.
      await this.whenOver;
      return undefined;
    }
    await this.until(() => this.heard >= step.before);
    return step;
  }

  /**
   * Waits for the live ends of the requests whose recorded ends are among the agent's first `count` messages, and were not
   * waited for before.
   *
   * @param {number} count
   */
  async settled(count) {
    for (; this.awaited < this.responses.length && this.responses[this.awaited].at < count; this.awaited += 1) {
      const end = this.running.get(this.responses[this.awaited].id);
      if (end === undefined) continue;
      let settled = false;
      void end.then(() => {
        settled = true;
        this.wake();
      });
      // No race against `whenOver`: each would leave something there.
      await this.until(() => settled);
    }
  }

  /** @param {any} client */
  async play(client) {
    for (const step of this.steps) {
      if (step.frame.method === 'initialize') continue;
      await this.until(() => this.heard >= step.before);
      await this.settled(step.before);
      if (this.over) return;
      const done = this.perform(client, step).catch(() => {});
      if (step.frame.id !== undefined) this.running.set(step.frame.id, done);
    }
  }

  /**
   * Does what made the recorded client send a message. Rejects when the agent refuses.
   *
   * @param {any} client
   * @param {Step} step
   */
  async perform(client, { frame, line }) {
    const { method, params = {}, id } = frame;
    const { sessionId } = params;
    const session = this.sessions.get(sessionId);
    switch (method) {
      case 'session/new':
        return this.opened(client.newSession(this.sessionOptions(params)));
      case 'session/load':
        return this.opened(client.loadSession(sessionId, this.sessionOptions(params)));
      case 'session/resume':
        return this.opened(client.resumeSession(sessionId, this.sessionOptions(params)));
      case 'session/fork':
        return this.opened(client.forkSession(sessionId, this.sessionOptions(params)));
      case 'session/prompt':
        if (session === undefined) return this.diverge(line, `the session ${JSON.stringify(sessionId)} is not open`);
        return this.prompt(session, params);
      case 'session/cancel':
        return session?.cancel();
      case 'session/close':
        return session === undefined ? client.request(method, params) : session.close();
      case 'session/delete':
        return client.deleteSession(sessionId);
      case '$/cancel_request':
        return this.controllers.get(params.requestId)?.abort();
      default: {
        if (id === undefined) return client.notify(method, frame.params);
        const controller = new AbortController();
        this.controllers.set(id, controller);
        return client.request(method, frame.params, { signal: controller.signal });
      }
    }
  }

  /** @param {any} params */
  sessionOptions({ mcpServers, systemPrompt, additionalDirectories, _meta }) {
    return {
      cwd: this.cwd,
      mcpServers,
      systemPrompt,
      // Another system's paths are not absolute here.
      additionalDirectories: additionalDirectories?.map((/** @type {string} */ folder) => (path.isAbsolute(folder) ? folder : this.cwd)),
      meta: _meta,
    };
  }

  /** @param {Promise<any>} opening */
  async opened(opening) {
    const session = await opening;
    this.sessions.set(session.id, session);
  }

  /** @param {any} session @param {any} params */
  async prompt(session, params) {
    const turn = newTurn(session.id, 0);
    this.turns.push(turn);
    const running = session.prompt(params.prompt);
    try {
      for await (const event of running) {
        note(turn, event.type === 'unknown' ? event.raw : { ...event, sessionUpdate: event.type });
      }
      const result = await running;
      turn.text = result.text;
      turn.stopReason = result.stopReason;
      if (result.usage !== undefined) Object.assign(turn, { usage: result.usage });
    } catch (/** @type {any} */ error) {
      turn.error = error.rpc?.code ?? error.code;
    }
  }
}

module.exports = { Driver };
