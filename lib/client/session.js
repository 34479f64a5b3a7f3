'use strict';

const { AcpError } = require('../errors.js');
const { Kind, encodePrompt } = require('../native/index.js');
const { heed } = require('../native/hub.js');
const { reasonOf } = require('../native/abort.js');
const { string, whole } = require('../native/options.js');
const { optionOfCategory, setting } = require('./config-options.js');
const { CALL, PROMPT, checked } = require('./arguments.js');
const { Backlog } = require('./backlog.js');
const { clean } = require('../clean.js');
const { EventQueue } = require('./event-queue.js');
const { EventReader, isList } = require('./events.js');
const { StateReader } = require('./session-state.js');
const { PromptTurn } = require('./turn.js');
const { DEFAULT_MAX_QUEUED, TurnQueue, dropped } = require('./turn-queue.js');

const NO_PROMPT = 'a prompt is a text or a list of content blocks';

/** Categories of configuration options that choose the model. */
const MODEL = 'model';

/** One conversation with the agent. */
class AcpSession {
  /** @type {import('./client').AcpClient} */
  #client;
  /** @type {import('../native/client').Session} */
  #native = /** @type {any} */ (undefined);
  #reader = new EventReader('');
  /** @type {StateReader | undefined} */
  #state;
  /** @type {Set<EventQueue<any>>} */
  #watchers = new Set();
  /** What came before the first of them. A host that prompts first does not want it. @type {Backlog | undefined} */
  #early = new Backlog();
  /** Consumers that hold the session back. */
  #pressing = new Set();
  /** @type {PromptTurn | undefined} */
  #turn;
  /** @type {TurnQueue} */
  #queue;
  /** Whether prompts wait for the running turn unless they say otherwise. */
  #queueing;
  #closed = false;
  /** Whether nothing of it follows. */
  #over = false;
  /** Receives what is repeated while the session is reopened. @type {((event: any) => void) | undefined} */
  #onReplay;
  /** @type {Promise<void> | undefined} */
  #closing;
  /** Whether it ended because the connection did: whoever calls then is told why that ended. */
  #lost = false;

  /**
   * @param {import('./client').AcpClient} client
   * @param {string} cwd
   * @param {import('../../types/client').LoadSessionOptions} [options]
   * @internal
   */
  constructor(client, cwd, options = {}) {
    this.#client = client;
    this.#queueing = options.queue === true;
    if (options.onReplay !== undefined) this.#onReplay = (event) => options.onReplay?.(event);
    this.#queue = new TurnQueue(whole(options.maxQueuedTurns, 'maxQueuedTurns') ?? DEFAULT_MAX_QUEUED);
    this.cwd = cwd;
    this.id = '';
    /** @type {any} */
    this.meta = undefined;
    /** @type {any} */
    this.modes = undefined;
    /** @type {any} */
    this.configOptions = undefined;
  }

  /**
   * Opens the session on its connection.
   *
   * @param {string} method
   * @param {string | undefined} sessionId
   * @param {object} request
   * @param {{ signal?: any, coalesce?: boolean }} view
   * @internal
   */
  async open(method, sessionId, request, view) {
    // Updates can come before the answer that names the session, but never before this listener.
    this.#reader.sessionId = sessionId ?? '';
    const listener = {
      event: (/** @type {number} */ kind, /** @type {string} */ text) => this.#receive(kind, text),
      opened: (/** @type {any} */ result) => this.#opened(result),
      gone: () => this.#end(),
    };
    this.#native = await this.#client.native.open(method, sessionId, request, view, listener);
    const state = this.#native.state();
    if (state !== null) this.#state = new StateReader(state);
    return this;
  }

  /** The answer that opens it, before anything that follows on it. @param {any} result */
  #opened(result) {
    this.id = result?.sessionId ?? this.#reader.sessionId;
    this.#reader.sessionId = this.id;
    const { modes, configOptions } = result ?? {};
    if (isList(modes?.availableModes)) this.modes = clean(modes);
    if (isList(configOptions)) this.configOptions = clean(configOptions);
    this.meta = result?._meta ?? undefined;
  }

  get state() {
    return this.#state?.read();
  }

  /**
   * @param {number} kind
   * @param {string} text
   */
  #receive(kind, text) {
    if (this.#reader.note(kind, text)) return;
    const { replaying } = this.#reader;
    const turn = this.#turn?.listening && !replaying ? this.#turn : undefined;
    const onReplay = replaying ? this.#onReplay : undefined;
    const wanted = turn !== undefined || onReplay !== undefined || this.#watchers.size > 0;
    if (!wanted && !replaying) this.#early?.keep(this.#reader, kind, text);
    if (!wanted && !(kind === Kind.UPDATE && changesState(text))) return;
    const event = this.#reader.read(kind, text);
    this.#follow(event);
    if (onReplay !== undefined) heed(onReplay(event));
    if (this.#reader.turn) turn?.push(event, text.length);
    for (const watcher of this.#watchers) watcher.push(event, text.length);
  }

  /** Keeps what the session's getters show. @param {any} event */
  #follow(event) {
    if (event.type === 'current_mode_update' && this.modes) {
      this.modes = { ...this.modes, currentModeId: event.currentModeId };
    } else if (event.type === 'config_option_update' && Array.isArray(event.configOptions)) {
      this.configOptions = event.configOptions;
    }
  }

  /**
   * @param {object} consumer
   * @param {boolean} paused
   */
  #onPressure(consumer, paused) {
    if (this.#closed) return;
    const before = this.#pressing.size > 0;
    if (paused) this.#pressing.add(consumer);
    else this.#pressing.delete(consumer);
    const now = this.#pressing.size > 0;
    if (before !== now) this.#native.setPaused(now);
  }

  /**
   * @param {import('../../types/client').PromptInput} input
   * @param {import('../../types/client').PromptOptions} [options]
   * @returns {PromptTurn}
   */
  prompt(input, options = {}) {
    const turn = this.#newTurn();
    turn.begin(this.#admit(turn, input, options ?? {}));
    return turn;
  }

  #newTurn() {
    return new PromptTurn(this, (queue, paused) => this.#onPressure(queue, paused));
  }

  /**
   * Runs a turn, now or when those before it are over.
   *
   * @param {PromptTurn} turn
   * @param {import('../../types/client').PromptInput} input
   * @param {import('../../types/client').PromptOptions} options
   */
  async #admit(turn, input, options) {
    const prompt = encoded(input, options);
    this.#check();
    if (options.signal?.aborted) throw reasonOf(options.signal);
    if (this.#turn !== undefined) {
      if (!(options.queue ?? this.#queueing)) throw turnInProgress();
      await this.#queue.wait(turn, options.signal);
    }
    return this.#run(turn, prompt, options.signal);
  }

  /**
   * @param {PromptTurn} turn
   * @param {import('../native/client').EncodedPrompt} prompt
   * @param {import('../../types/host').AbortSignalLike} [signal]
   */
  async #run(turn, prompt, signal) {
    const abort = () => void this.#cancelRunning();
    this.#turn = turn;
    this.#early = undefined;
    try {
      this.#check();
      // It may have fired since the turn before let go.
      if (signal?.aborted) throw reasonOf(signal);
      signal?.addEventListener('abort', abort, { once: true });
      const outcome = await this.#native.start(prompt);
      return promptResult(outcome);
    } finally {
      // At once, so that nothing gets in between.
      if (this.#turn === turn) this.#turn = /** @type {PromptTurn | undefined} */ (this.#queue.next());
      // Its end was let through in any case; whoever else is behind still is.
      if (this.#pressing.size > 0 && !this.#closed) this.#native.setPaused(true);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Every update from now on, after those that came before anybody could listen. A consumer that falls behind slows the agent. */
  updates() {
    /** @type {EventQueue<any>} */
    const queue = new EventQueue((consumer, paused) => this.#onPressure(consumer, paused));
    queue.onLeave = () => this.#watchers.delete(queue);
    const early = this.#early?.events(this.id) ?? [];
    this.#early = undefined;
    for (const { event, units } of early) queue.push(event, units);
    if (this.#over) queue.end();
    else this.#watchers.add(queue);
    return queue;
  }

  /**
   * @param {string} modeId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async setMode(modeId, options) {
    checked(options, CALL);
    this.#check();
    if (!this.modes) throw unsupported('session/set_mode', 'the session has no modes');
    const known = this.modes.availableModes?.some((/** @type {any} */ mode) => mode.id === modeId);
    if (!known) throw new AcpError('invalid_argument', 'the session has no mode of that id');
    await this.#client.request('session/set_mode', { sessionId: this.id, modeId }, options);
    this.modes = { ...this.modes, currentModeId: modeId };
  }

  /**
   * @param {string} configId
   * @param {string | boolean} value
   * @param {import('../../types/client').CallOptions} [options]
   */
  async setConfigOption(configId, value, options) {
    this.#check();
    if (!this.configOptions) throw unsupported('session/set_config_option', 'the session has no configuration options');
    const params = { sessionId: this.id, ...setting(this.configOptions, configId, value) };
    const result = await this.#client.request('session/set_config_option', /** @type {any} */ (params), options);
    if (!isList(result?.configOptions)) {
      throw new AcpError('malformed_response', 'the agent did not return its configuration options', { phase: 'session' });
    }
    this.configOptions = clean(result.configOptions);
    return this.configOptions;
  }

  /**
   * @param {string} modelId
   * @param {import('../../types/client').CallOptions} [options]
   */
  setModel(modelId, options) {
    return this.setConfigCategory(MODEL, modelId, options);
  }

  /**
   * @param {string} category
   * @param {string | boolean} value
   * @param {import('../../types/client').CallOptions} [options]
   */
  async setConfigCategory(category, value, options) {
    this.#check();
    const id = optionOfCategory(this.configOptions, category, value);
    if (id === undefined) throw unsupported('session/set_config_option', 'the session has no option of that category');
    return this.setConfigOption(id, value, options);
  }

  /**
   * @param {string} title
   * @param {import('../../types/client').CallOptions} [options]
   */
  async setTitle(title, options) {
    this.#check();
    return this.#client.setSessionTitle(this.id, title, options);
  }

  cancel() {
    this.#queue.dropAll(dropped);
    return this.#cancelRunning();
  }

  /** @param {string} childSessionId */
  async cancelSubagent(childSessionId) {
    this.#check();
    await this.#native.cancelChild(string(childSessionId, 'childSessionId'));
  }

  /** @returns {Promise<{ state: 'cancelled' | 'forced' | 'idle' }>} */
  async #cancelRunning() {
    if (this.#closed) return { state: 'idle' };
    const turn = this.#turn;
    const state = await this.#native.cancel(this.#client.cancelGraceMs);
    // It may have ended before, and its end wait behind events that nobody takes.
    if (turn !== undefined && this.#turn === turn && !this.#closed) this.#native.setPaused(false);
    return { state };
  }

  /**
   * Cancels one turn, whether it runs or waits.
   *
   * @param {PromptTurn} turn
   * @returns {Promise<{ state: 'cancelled' | 'forced' | 'idle' }>}
   * @internal
   */
  async cancelTurn(turn) {
    if (this.#queue.drop(turn, dropped())) return { state: 'cancelled' };
    return this.#turn === turn ? this.#cancelRunning() : { state: 'idle' };
  }

  /**
   * Cancels the running turn and what waits behind it, waits for its end, then prompts.
   *
   * @param {import('../../types/client').PromptInput} input
   * @param {import('../../types/client').PromptOptions} [options]
   */
  interruptWith(input, options = {}) {
    const turn = this.#newTurn();
    turn.begin(this.#interrupt(turn, input, options ?? {}));
    return turn;
  }

  /**
   * @param {PromptTurn} turn
   * @param {import('../../types/client').PromptInput} input
   * @param {import('../../types/client').PromptOptions} options
   */
  async #interrupt(turn, input, options) {
    const prompt = encoded(input, options);
    this.#check();
    if (options.signal?.aborted) throw reasonOf(options.signal);
    this.#queue.dropAll(dropped);
    if (this.#turn !== undefined) {
      // Where no queue was asked for, this one turn may wait all the same.
      const comes = this.#queue.wait(turn, options.signal, true);
      this.#cancelRunning().catch(() => {});
      await comes;
    }
    return this.#run(turn, prompt, options.signal);
  }

  close() {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    if (this.#closed) return;
    this.#queue.dropAll(closedError);
    const turn = this.#turn;
    if (turn !== undefined) {
      await this.#cancelRunning();
      // Its end comes through the channel that is closed below.
      await turn.result.then(() => {}, () => {});
    }
    if (this.#closed) return;
    this.#closed = true;
    this.#early = undefined;
    try {
      if (this.#client.agentCapabilities?.sessionCapabilities?.close && !this.#client.ended) {
        await this.#client.request('session/close', { sessionId: this.id });
      }
    } finally {
      this.#native.drop();
      this.#end();
    }
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /**
   * The connection is gone. What it still brought is delivered before the watchers' end; it is bounded, so that nobody has
   * to hold it back any more.
   *
   * @internal
   */
  onClientEnd() {
    this.#lost ||= !this.#closed;
    this.#closed = true;
    this.#pressing.clear();
    this.#native.setPaused(false);
    this.#client.forget(this);
  }

  /** The session was deleted: there is nothing left to close. @internal */
  onDelete() {
    this.#queue.dropAll(closedError);
    this.#closed = true;
    this.#early = undefined;
    this.#native.drop();
    this.#end();
  }

  #end() {
    this.#over = true;
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
    this.#client.forget(this);
  }

  #check() {
    if ((this.#closed || this.#closing !== undefined) && !this.#lost) throw closedError();
  }
}

function closedError() {
  return new AcpError('session_unusable', 'the session is closed', { phase: 'session' });
}

function turnInProgress() {
  return new AcpError('turn_in_progress', 'the session already runs a turn', { phase: 'prompt' });
}

/**
 * @param {string} method
 * @param {string} message
 */
function unsupported(method, message) {
  return new AcpError('unsupported_capability', message, { phase: 'session', extra: { method } });
}

/** Updates that the session's own getters follow. @param {string} text */
function changesState(text) {
  return text.includes('"current_mode_update"') || text.includes('"config_option_update"');
}

/**
 * A prompt, checked as a whole before anything is changed for it.
 *
 * @param {import('../../types/client').PromptInput} input
 * @param {import('../../types/client').PromptOptions} options
 */
function encoded(input, options) {
  const text = typeof input === 'string';
  if (!text && !Array.isArray(input)) throw new AcpError('invalid_argument', NO_PROMPT, { phase: 'prompt' });
  return encodePrompt(text ? [{ type: 'text', text: input }] : input, checked(options, PROMPT));
}

/** @param {any} outcome */
function promptResult(outcome) {
  const { stopReason = '', text, textTruncated, cancelRequested, forced, usage, result } = outcome;
  const meta = result?._meta ?? undefined;
  const value = { stopReason, text, textTruncated, cancelRequested, forced, ...(meta && { meta }) };
  return usage === undefined ? value : { ...value, usage };
}

module.exports = { AcpSession };
