'use strict';

/**
 * The one place where Rust's news arrive.
 *
 * Rust wakes this environment without a payload; `pump` then drains slices, each of one channel: a string and a table of
 * its segments. Between a bounded number of segments, or much text, the event loop gets its turn, so that no flood stalls
 * the host. Nothing here keeps Node alive but a promise that has not settled.
 */

const binding = require('../../binding.js');
const { AcpError, fromNative } = require('../errors.js');

/** Segments per slice. */
const SLICE = 512;
/** Segments after which the event loop gets its turn. */
const BUDGET = 1024;
/** A power of two: that many code units of text count like one segment. Short updates are shorter than that. */
const UNITS_SHIFT = 8;
const LENGTH_MASK = 0x0fffffff;
/** Flags of a slice: there is more to drain; nothing follows on its channel. */
const MORE = 1;
const LAST = 2;
/** Codes of the binding's errors about arguments. */
const REFUSALS = new Set(['InvalidArg', 'StringExpected', 'NumberExpected', 'BooleanExpected', 'ObjectExpected', 'ArrayExpected']);
/** Longest delay that a timer takes; its length means nothing, only that it is pending. */
const FOREVER = 2 ** 31 - 1;

/** Kinds of segments; `crates/acp-runtime/src/delivery.rs` defines them. */
const Kind = Object.freeze({
  TEXT: 0,
  THOUGHT: 1,
  USER_TEXT: 2,
  MESSAGE_ID: 3,
  UPDATE: 4,
  TOOL_START: 5,
  TOOL_END: 6,
  REPLY: 7,
  REQUEST: 8,
  NOTIFICATION: 9,
  REPLAY: 10,
  TURN: 11,
  CLOSED: 12,
  WIRE: 13,
  CHILD: 14,
  TURN_TEXT: 15,
});

/**
 * @typedef {object} Receiver
 * @property {(kind: number, text: string) => void} receive
 * @property {() => void} [gone] Nothing follows.
 * @property {boolean} [coalesce] Whether adjacent deltas of one kind come as one.
 *
 * @typedef {object} Waiting
 * @property {(value: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {object} [context] What `fromNative` should know about the call.
 * @property {(value: any) => void} [now] Gets the value at once, before anything that follows on the channel.
 */

class Hub {
  constructor() {
    /** @type {Map<number, Receiver>} */
    this.channels = new Map();
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    this.nextToken = 1;
    this.table = new Uint32Array(3 + SLICE);
    this.pumping = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.alive = undefined;
    this.pump = this.pump.bind(this);
    this.native = new binding.NativeHub(this.pump);
    this.channels.set(this.native.channel, { receive: (kind, text) => this.receiveReply(kind, text) });
  }

  /** Drains until nothing is left, or the budget is spent; then goes on in the next round of the event loop. */
  pump() {
    if (this.pumping) return;
    this.pumping = true;
    const { table, channels, native } = this;
    let budget = BUDGET;
    try {
      for (;;) {
        const text = native.drain(table);
        if (text === null) return;
        const count = table[1];
        const more = (table[2] & MORE) !== 0;
        const last = (table[2] & LAST) !== 0;
        const id = table[0];
        const channel = channels.get(id);
        if (channel !== undefined) deliver(channel, table, count, text);
        if (last) this.forgetChannel(id);
        // Long segments cost by their length.
        budget -= Math.max(count, text.length >> UNITS_SHIFT);
        if (!more) return;
        if (budget <= 0) {
          setImmediate(this.pump);
          return;
        }
      }
    } finally {
      this.pumping = false;
    }
  }

  /**
   * Starts something that settles a promise later.
   *
   * @template T
   * @param {(token: number) => void} start
   * @param {object} [context]
   * @param {(value: T) => void} [now] Gets the value before anything that follows on the channel; whoever awaits it comes later.
   * @returns {Promise<T>}
   */
  promise(start, context, now) {
    return new Promise((resolve, reject) => {
      const token = this.nextToken;
      this.nextToken = token === 0xffffffff ? 1 : token + 1;
      this.waiting.set(token, { resolve, reject, context, now });
      // A pending promise keeps Node alive, as any other would.
      this.alive ??= setInterval(() => {}, FOREVER);
      try {
        start(token);
      } catch (error) {
        this.forget(token);
        reject(refused(error));
      }
    });
  }

  /** Forgets a channel on which nothing follows, when what it still holds was delivered. @param {number} channel */
  retire(channel) {
    if (this.native.retireChannel(channel)) this.forgetChannel(channel);
  }

  /** @param {number} id */
  forgetChannel(id) {
    const channel = this.channels.get(id);
    this.channels.delete(id);
    try {
      channel?.gone?.();
    } catch (error) {
      reportListener(error);
    }
  }

  /** @param {number} token */
  forget(token) {
    const waiting = this.waiting.get(token);
    this.waiting.delete(token);
    if (this.waiting.size === 0) {
      clearInterval(this.alive);
      this.alive = undefined;
    }
    return waiting;
  }

  /**
   * @param {number} kind
   * @param {string} text
   * @param {string} [turnText] The text of the turn that this reply ends.
   */
  receiveReply(kind, text, turnText) {
    if (kind !== Kind.REPLY) return;
    const reply = JSON.parse(text);
    if (turnText !== undefined && reply.ok) reply.ok.text = turnText;
    const waiting = this.forget(reply.token);
    if (waiting === undefined) return;
    if (reply.error) return waiting.reject(fromNative(reply.error, waiting.context));
    try {
      waiting.now?.(reply.ok);
    } finally {
      waiting.resolve(reply.ok);
    }
  }
}

/**
 * @param {Receiver} channel
 * @param {Uint32Array} table
 * @param {number} count
 * @param {string} text
 */
function deliver(channel, table, count, text) {
  let start = 0;
  const last = 3 + count;
  for (let i = 3; i < last; i++) {
    const kind = table[i] >>> 28;
    let end = start + (table[i] & LENGTH_MASK);
    if (channel.coalesce === true && kind <= Kind.USER_TEXT) {
      // They lie back to back, and another message would begin with a segment of its own.
      while (i + 1 < last && table[i + 1] >>> 28 === kind) end += table[++i] & LENGTH_MASK;
    }
    try {
      channel.receive(kind, text.slice(start, end));
    } catch (error) {
      reportListener(error);
    }
    start = end;
  }
}

/**
 * What a call fails with that did not begin. The binding's own errors tell of an argument that no check has seen.
 *
 * @param {unknown} error
 */
function refused(error) {
  if (!(error instanceof Error) || error instanceof AcpError || !REFUSALS.has(/** @type {any} */ (error).code)) return error;
  return new AcpError('invalid_argument', error.message, { cause: error });
}

let reported = false;

/**
 * A listener that throws must neither end the host nor cost others their events. It is told once.
 *
 * @param {unknown} error
 */
function reportListener(error) {
  if (reported) return;
  reported = true;
  const text = error instanceof Error ? error.stack ?? error.message : String(error);
  process.emitWarning(`A listener threw; the event counts as delivered. ${text}`, 'AcpListenerWarning');
}

/**
 * What a listener returned may be a promise, although nobody asked for one. That it fails is told like a throw.
 *
 * @param {any} returned
 * @param {(error: unknown) => void} [onFailure]
 */
function heed(returned, onFailure = reportListener) {
  if (typeof returned?.then === 'function') returned.then(undefined, onFailure);
}

/** @type {Hub | undefined} */
let hub;

/** The environment's hub; made, and its exit hook installed, at first use. */
function getHub() {
  if (hub === undefined) {
    hub = new Hub();
    const { native } = hub;
    process.on('exit', () => native.killAll());
  }
  return hub;
}

/** Kills every agent of this environment, synchronously. */
function killAll() {
  return hub === undefined ? 0 : hub.native.killAll();
}

/** How many agents of this environment live. */
function activeCount() {
  return hub === undefined ? 0 : hub.native.activeCount();
}

module.exports = { getHub, killAll, activeCount, reportListener, heed, Kind };
