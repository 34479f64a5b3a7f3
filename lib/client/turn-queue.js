'use strict';

const { AcpError } = require('../errors.js');
const { reasonOf } = require('../native/abort.js');

/** Turns that may wait, unless the session says otherwise. */
const DEFAULT_MAX_QUEUED = 16;

/**
 * @typedef {object} Waiting
 * @property {object} turn
 * @property {() => void} go
 * @property {(error: unknown) => void} drop
 */

/** Turns of one session that wait for the running one. */
class TurnQueue {
  /** @type {Waiting[]} */
  #waiting = [];

  /** @param {number} max */
  constructor(max) {
    this.max = max;
  }

  get size() {
    return this.#waiting.length;
  }

  /**
   * Resolves when the turn's time has come. Rejects when it is dropped before, or its signal fires.
   *
   * @param {object} turn
   * @param {import('../../types/host').AbortSignalLike} [signal]
   * @param {boolean} [always] Whether it may wait although there is no room.
   * @returns {Promise<void>}
   */
  wait(turn, signal, always = false) {
    if (this.size >= this.max && !always) {
      const text = `the session already runs a turn, and ${this.size} wait`;
      return Promise.reject(new AcpError('turn_in_progress', text, { phase: 'prompt', extra: { queued: this.size } }));
    }
    return new Promise((resolve, reject) => {
      const abort = () => void this.drop(turn, reasonOf(/** @type {any} */ (signal)));
      const done = () => signal?.removeEventListener('abort', abort);
      this.#waiting.push({
        turn,
        go: () => resolve(done()),
        drop(error) {
          done();
          reject(error);
        },
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** The turn that comes next; it is told so. */
  next() {
    const next = this.#waiting.shift();
    next?.go();
    return next?.turn;
  }

  /**
   * Drops one turn.
   *
   * @param {object} turn
   * @param {unknown} error
   * @returns {boolean} Whether it waited.
   */
  drop(turn, error) {
    const at = this.#waiting.findIndex((waiting) => waiting.turn === turn);
    if (at === -1) return false;
    for (const waiting of this.#waiting.splice(at, 1)) waiting.drop(error);
    return true;
  }

  /**
   * Drops every turn.
   *
   * @param {() => Error} error Makes the failure of one turn.
   */
  dropAll(error) {
    for (const waiting of this.#waiting.splice(0)) waiting.drop(error());
  }
}

/** What a turn fails with that never began. */
function dropped() {
  return new AcpError('aborted', 'the turn was dropped before it began', { phase: 'prompt' });
}

module.exports = { TurnQueue, dropped, DEFAULT_MAX_QUEUED };
