'use strict';

const { AcpError } = require('../errors.js');
const { Kind } = require('../native/index.js');
const { reasonOf } = require('../native/abort.js');
const { EventQueue } = require('./event-queue.js');
const { EventReader } = require('./events.js');
const { StateReader } = require('./session-state.js');
const { PromptTurn } = require('./turn.js');

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
  /** Consumers that hold the session back. */
  #pressing = new Set();
  /** @type {PromptTurn | undefined} */
  #turn;
  #closed = false;

  /**
   * @param {import('./client').AcpClient} client
   * @param {string} cwd
   * @internal
   */
  constructor(client, cwd) {
    this.#client = client;
    this.cwd = cwd;
    this.id = '';
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
   * @internal
   */
  async open(method, sessionId, request) {
    // Updates can come before the answer that names the session, but never before this listener.
    this.#reader.sessionId = sessionId ?? '';
    const listener = { event: (/** @type {number} */ kind, /** @type {string} */ text) => this.#receive(kind, text) };
    this.#native = await this.#client.native.open(method, sessionId, request, {}, listener);
    this.id = this.#native.id;
    this.#reader.sessionId = this.id;
    this.modes = this.#native.result?.modes ?? this.modes;
    this.configOptions = this.#native.result?.configOptions ?? this.configOptions;
    const state = this.#native.state();
    if (state !== null) this.#state = new StateReader(state);
    return this;
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
    const turn = this.#turn?.listening && !this.#reader.replaying ? this.#turn : undefined;
    if (turn === undefined && this.#watchers.size === 0 && !(kind === Kind.UPDATE && changesState(text))) return;
    const event = this.#reader.read(kind, text);
    this.#follow(event);
    if (this.#reader.turn) turn?.push(event);
    for (const watcher of this.#watchers) watcher.push(event);
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
    const turn = new PromptTurn(this, (queue, paused) => this.#onPressure(queue, paused));
    turn.begin(this.#run(turn, input, options));
    return turn;
  }

  /**
   * @param {PromptTurn} turn
   * @param {import('../../types/client').PromptInput} input
   * @param {import('../../types/client').PromptOptions} options
   */
  async #run(turn, input, options) {
    const { signal } = options;
    this.#check();
    if (signal?.aborted) throw reasonOf(signal);
    if (this.#turn !== undefined) throw turnInProgress();
    const blocks = typeof input === 'string' ? [{ type: 'text', text: input }] : input;
    this.#turn = turn;
    const abort = () => void this.cancel();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const outcome = await this.#native.prompt(blocks, options);
      return promptResult(outcome);
    } finally {
      signal?.removeEventListener('abort', abort);
      if (this.#turn === turn) this.#turn = undefined;
    }
  }

  /** Every update from now on. A consumer that falls behind slows the agent. */
  updates() {
    /** @type {EventQueue<any>} */
    const queue = new EventQueue((consumer, paused) => this.#onPressure(consumer, paused));
    queue.onLeave = () => this.#watchers.delete(queue);
    if (this.#closed) queue.end();
    else this.#watchers.add(queue);
    return queue;
  }

  /**
   * @param {string} modeId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async setMode(modeId, options) {
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
    if (!this.configOptions.some((/** @type {any} */ option) => option.id === configId)) {
      throw new AcpError('invalid_argument', 'the session has no configuration option of that id');
    }
    const params = { sessionId: this.id, configId, value };
    if (typeof value === 'boolean') /** @type {any} */ (params).type = 'boolean';
    const result = await this.#client.request('session/set_config_option', /** @type {any} */ (params), options);
    if (!Array.isArray(result?.configOptions)) {
      throw new AcpError('malformed_response', 'the agent did not return its configuration options', { phase: 'session' });
    }
    this.configOptions = result.configOptions;
    return this.configOptions;
  }

  /**
   * @param {string} modelId
   * @param {import('../../types/client').CallOptions} [options]
   */
  async setModel(modelId, options) {
    this.#check();
    const option = this.configOptions?.find((/** @type {any} */ candidate) => candidate.category === MODEL);
    if (option === undefined) throw unsupported('session/set_config_option', 'the session has no option that chooses a model');
    return this.setConfigOption(option.id, modelId, options);
  }

  async cancel() {
    if (this.#closed) return { state: /** @type {const} */ ('idle') };
    return { state: await this.#native.cancel(this.#client.cancelGraceMs) };
  }

  /**
   * Cancels the running turn, waits for its end, then prompts.
   *
   * @param {import('../../types/client').PromptInput} input
   * @param {import('../../types/client').PromptOptions} [options]
   */
  interruptWith(input, options = {}) {
    const turn = new PromptTurn(this, (queue, paused) => this.#onPressure(queue, paused));
    const running = this.#turn;
    turn.begin(
      (async () => {
        if (running !== undefined) {
          await this.cancel();
          await running.result.catch(() => {});
        }
        return this.#run(turn, input, options);
      })(),
    );
    return turn;
  }

  async close() {
    if (this.#closed) return;
    if (this.#turn !== undefined) await this.cancel();
    if (this.#closed) return;
    this.#closed = true;
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

  /** The connection is gone. @internal */
  onClientEnd() {
    this.#closed = true;
    this.#end();
  }

  #end() {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
    this.#client.forget(this);
  }

  #check() {
    if (this.#closed) throw new AcpError('session_unusable', 'the session is closed', { phase: 'session' });
  }
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

/** @param {any} outcome */
function promptResult(outcome) {
  const { stopReason = '', text, textTruncated, cancelRequested, forced, usage } = outcome;
  const value = { stopReason, text, textTruncated, cancelRequested, forced };
  return usage === undefined ? value : { ...value, usage };
}

module.exports = { AcpSession };
