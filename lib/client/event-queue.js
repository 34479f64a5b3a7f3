'use strict';

/** Events held for a consumer before its session is paused. */
const HIGH = 1024;
/** Held events at which a paused session goes on. */
const LOW = 256;
/** Text of held events, in UTF-16 code units, at which their session is paused however few they are. */
const HIGH_UNITS = 4 * 1024 * 1024;
/** Text of held events at which a paused session goes on. */
const LOW_UNITS = 1024 * 1024;

/**
 * Events between a session and one consumer. A consumer that falls behind pauses the session, which slows the agent;
 * memory does not grow, neither with many events nor with long ones.
 *
 * @template T
 * @implements {AsyncIterableIterator<T>}
 */
class EventQueue {
  /** @param {(queue: EventQueue<T>, paused: boolean) => void} onPressure */
  constructor(onPressure) {
    this.onPressure = onPressure;
    /** Events, each followed by the length of the text that it was read from. @type {any[]} */
    this.held = [];
    /** Where the first event lies that nobody took. */
    this.head = 0;
    /** Text of the held events. */
    this.units = 0;
    /** @type {Array<(result: IteratorResult<T>) => void>} */
    this.readers = [];
    this.ended = false;
    /** @type {Error | undefined} */
    this.failure = undefined;
    this.paused = false;
    /** Called once when the consumer leaves. */
    this.onLeave = () => {};
  }

  /** How many events it holds. */
  get size() {
    return (this.held.length - this.head) / 2;
  }

  /**
   * @param {T} item
   * @param {number} units Length of the text that it was read from.
   */
  push(item, units) {
    if (this.ended) return;
    const reader = this.readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: item });
      return;
    }
    this.held.push(item, units);
    this.units += units;
    if (!this.paused && (this.size >= HIGH || this.units >= HIGH_UNITS)) this.press(true);
  }

  /**
   * No more events. Those held are still handed out; a failure comes after them.
   *
   * @param {Error} [failure]
   */
  end(failure) {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    // What it holds is all that it will ever hold.
    if (this.paused) this.press(false);
    if (this.size > 0) return;
    for (const reader of this.readers.splice(0)) reader(/** @type {any} */ (this.last()));
  }

  /** @param {boolean} paused */
  press(paused) {
    this.paused = paused;
    this.onPressure(this, paused);
  }

  last() {
    const { failure } = this;
    this.failure = undefined;
    return failure === undefined ? { done: true, value: undefined } : Promise.reject(failure);
  }

  /** @returns {Promise<IteratorResult<T>>} */
  next() {
    const { held, head } = this;
    if (head < held.length) {
      const value = held[head];
      held[head] = undefined;
      this.units -= held[head + 1];
      this.head = head + 2;
      if (this.head === held.length) {
        this.held = [];
        this.head = 0;
      } else if (this.head >= 2 * HIGH) {
        // A consumer that never catches up must not leave a trail of what it took.
        held.splice(0, this.head);
        this.head = 0;
      }
      if (this.paused && this.size <= LOW && this.units <= LOW_UNITS) this.press(false);
      return Promise.resolve({ done: false, value });
    }
    if (this.ended) return Promise.resolve(/** @type {any} */ (this.last()));
    return new Promise((resolve) => this.readers.push(resolve));
  }

  /** @returns {Promise<IteratorResult<T>>} */
  return() {
    this.ended = true;
    this.failure = undefined;
    this.held = [];
    this.head = 0;
    this.units = 0;
    if (this.paused) this.press(false);
    for (const reader of this.readers.splice(0)) reader({ done: true, value: undefined });
    this.onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  /**
   * @param {unknown} error
   * @returns {Promise<IteratorResult<T>>}
   */
  async throw(error) {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

module.exports = { EventQueue, HIGH, HIGH_UNITS };
