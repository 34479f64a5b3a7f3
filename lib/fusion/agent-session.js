'use strict';

/**
 * One session of the adapter, in the shape that engines hold: state, subscribers, history.
 *
 * @typedef {import('../../types/fusion').AgentRuntimeOptions} AgentRuntimeOptions
 * @typedef {import('../../types/fusion').AgentSessionEvent} AgentSessionEvent
 * @typedef {import('../../types/fusion').AcpCallbacks} AcpCallbacks
 */

const { AcpError } = require('../errors.js');
const { heed } = require('../native/hub.js');

/** Milliseconds after a cancel until a turn that goes on regardless is given up. */
const ABORT_GRACE_MS = 2_000;

/** @param {Function | undefined} callback @param {unknown[]} args */
function call(callback, args) {
  try {
    heed(callback?.(...args), ignore);
  } catch {
    // What a host's callback throws must not cost the others their event.
  }
}

function ignore() {}

/**
 * @param {'text_delta' | 'thinking_delta'} type
 * @param {number} contentIndex
 * @param {string} delta
 * @returns {AgentSessionEvent}
 */
function textDelta(type, contentIndex, delta) {
  return /** @type {any} */ ({ type: 'message_update', assistantMessageEvent: { type, contentIndex, delta } });
}

class AgentSession {
  /**
   * @param {object} init
   * @param {AgentRuntimeOptions} init.options
   * @param {string} init.runtimeId
   * @param {string} init.model
   * @param {(session: AgentSession, text: string, options?: unknown) => Promise<import('../../types/fusion').AgentPromptResult>} init.prompt
   */
  constructor({ options, runtimeId, model, prompt }) {
    this.model = model;
    this.systemPrompt = options.systemPrompt ?? '';
    this.sessionId = '';
    this.cwd = options.cwd;
    this.lastModelDescription = `${runtimeId}/${model}`;
    /** @type {AcpCallbacks} */
    this.callbacks = {
      onText: options.onText,
      onThinking: options.onThinking,
      onToolStart: options.onToolStart,
      onToolEnd: options.onToolEnd,
    };
    this.gate = options.actionGateContext;
    /** @type {any} */
    this.connection = undefined;
    /** @type {(() => void) | undefined} */
    this.resetTurn = undefined;
    /** @type {(() => Promise<void>) | undefined} */
    this.disposeBridge = undefined;
    /** @type {{ reasonCode: 'mcp-schema-server-missing' | 'bridge-start-failed' } | undefined} */
    this.fusionToolBridgeError = undefined;
    /** @type {{ messages: { role: string, content: { type: 'text', text: string }[] }[], errorMessage?: string }} */
    this.state = { messages: [] };
    /** @type {string[]} */
    this.notices = [];
    /** @type {Record<string, number> | undefined} */
    this.usage = undefined;
    hidden(this, { runPrompt: prompt, subscribers: new Set(), live: undefined, leadingText: undefined, ending: undefined });
  }

  /** @returns {Promise<void> | undefined} */
  get disposePromise() {
    return /** @type {any} */ (this).ending;
  }

  get messages() {
    return this.state.messages;
  }

  /**
   * @param {(event: AgentSessionEvent) => void} listener
   * @returns {() => void}
   */
  subscribe(listener) {
    const { subscribers } = /** @type {any} */ (this);
    subscribers.add(listener);
    return () => subscribers.delete(listener);
  }

  /** @param {AgentSessionEvent} event */
  publish(event) {
    for (const subscriber of /** @type {any} */ (this).subscribers) call(subscriber, [event]);
  }

  // The two below run for every delta: nothing is built that nobody takes.

  /** @param {string} delta */
  text(delta) {
    if (/** @type {any} */ (this).subscribers.size > 0) this.publish(textDelta('text_delta', 0, delta));
    const { onText } = this.callbacks;
    if (onText === undefined) return;
    try {
      heed(onText(delta), ignore);
    } catch {
      // As in `call`.
    }
  }

  /** @param {string} delta */
  thinking(delta) {
    if (/** @type {any} */ (this).subscribers.size > 0) this.publish(textDelta('thinking_delta', 1, delta));
    const { onThinking } = this.callbacks;
    if (onThinking === undefined) return;
    try {
      heed(onThinking(delta), ignore);
    } catch {
      // As in `call`.
    }
  }

  /** @param {string} toolName @param {unknown} args */
  toolStart(toolName, args) {
    this.publish({ type: 'tool_execution_start', toolName, args });
    call(this.callbacks.onToolStart, [toolName, args]);
  }

  /** @param {string} toolName @param {boolean} isError @param {unknown} result */
  toolEnd(toolName, isError, result) {
    this.publish({ type: 'tool_execution_end', toolName, isError, result });
    call(this.callbacks.onToolEnd, [toolName, isError, result]);
  }

  /** @param {'user' | 'assistant'} role @param {string} text */
  remember(role, text) {
    if (text !== '') this.state.messages.push({ role, content: [{ type: 'text', text }] });
  }

  /**
   * @param {string} text
   * @param {unknown} [options]
   */
  prompt(text, options) {
    return /** @type {any} */ (this).runPrompt(this, text, options);
  }

  /** Cancels the running turn; resolves when it has ended, within 2,000 ms. */
  async abort() {
    await /** @type {any} */ (this).live?.cancel(ABORT_GRACE_MS).catch(() => {});
  }

  /**
   * The protocol takes no message into a running turn.
   *
   * @returns {Promise<never>}
   */
  async steer() {
    const message = 'an ACP turn takes no further messages; abort it and prompt again';
    throw new AcpError('unsupported_capability', message, { phase: 'prompt' });
  }

  /** Kills the agent. Idempotent. */
  dispose() {
    const self = /** @type {any} */ (this);
    if (self.ending !== undefined) return;
    self.subscribers.clear();
    this.connection?.dispose();
    const bridge = this.disposeBridge?.().catch(() => {});
    self.ending = Promise.all([bridge, this.connection?.child?.gone]).then(() => {});
  }
}

/**
 * Members that are no part of what an engine may print or copy.
 *
 * @param {object} target
 * @param {Record<string, unknown>} values
 */
function hidden(target, values) {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(target, name, { value, writable: true, enumerable: false });
  }
}

module.exports = { AgentSession, ABORT_GRACE_MS };
