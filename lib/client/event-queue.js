'use strict';

/** Events held for a consumer before its session is paused. */
const HIGH = 1024;
/** Held events at which a paused session goes on. */
const LOW = 256;

/**
 * Events between a session and one consumer. A consumer that falls behind pauses the session, which slows the agent;
 * memory does not grow.
 *
 * @template T
 * @implements {AsyncIterableIterator<T>}
 */
class EventQueue {
  /** @param {(queue: EventQueue<T>, paused: boolean) => void} onPressure */
  constructor(onPressure) {
    this.onPressure = onPressure;
    /** @type {T[]} */
    this.items = [];
    this.head = 0;
    /** @type {Array<(result: IteratorResult<T>) => void>} */
    this.readers = [];
    this.ended = false;
    /** @type {Error | undefined} */
    this.failure = undefined;
    this.paused = false;
    /** Called once when the consumer leaves. */
    this.onLeave = () => {};
  }

  /** @param {T} item */
  push(item) {
    if (this.ended) return;
    const reader = this.readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: item });
      return;
    }
    this.items.push(item);
    if (!this.paused && this.items.length - this.head >= HIGH) this.press(true);
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
    if (this.items.length - this.head > 0) return;
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
    if (this.head < this.items.length) {
      const value = this.items[this.head];
      this.items[this.head] = /** @type {any} */ (undefined);
      this.head += 1;
      if (this.head === this.items.length) {
        this.items = [];
        this.head = 0;
      }
      if (this.paused && this.items.length - this.head <= LOW) this.press(false);
      return Promise.resolve({ done: false, value });
    }
    if (this.ended) return Promise.resolve(/** @type {any} */ (this.last()));
    return new Promise((resolve) => this.readers.push(resolve));
  }

  /** @returns {Promise<IteratorResult<T>>} */
  return() {
    this.ended = true;
    this.failure = undefined;
    this.items = [];
    this.head = 0;
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

module.exports = { EventQueue, HIGH };
