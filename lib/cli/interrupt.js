'use strict';

const { exitCodes } = require('./exit-codes');

/**
 * Hears Ctrl-C, a request to end, and a reader that went away. The first aborts `signal`; a second one calls `force`.
 * The exit code is the first one's.
 */
class Interrupt {
  /** @param {import('./types').World} world */
  constructor({ signals, stdout }) {
    this.controller = new AbortController();
    /** @type {number | undefined} */
    this.exitCode = undefined;
    /** What a second interruption does. @type {() => void} */
    this.force = () => {};
    const on = (/** @type {number} */ code) => () => {
      if (this.exitCode !== undefined) return this.force();
      this.exitCode = code;
      this.controller.abort();
    };
    const onInt = on(exitCodes.interrupted);
    const onTerm = on(exitCodes.terminated);
    signals.on('SIGINT', onInt);
    signals.on('SIGTERM', onTerm);
    // Nobody reads the answer any more, so there is no point in going on.
    stdout.on('error', onInt);
    stdout.on('close', onInt);
    if (stdout.destroyed) onInt();
    this.dispose = () => {
      signals.off('SIGINT', onInt);
      signals.off('SIGTERM', onTerm);
      stdout.off('close', onInt);
      // The listener for output errors stays: a late one must not end the process with a stack trace.
    };
  }

  /** Aborts at the first interruption. */
  get signal() {
    return this.controller.signal;
  }
}

module.exports = { Interrupt };
