'use strict';

const { exitCodes } = require('./exit-codes');
const { Output } = require('./output');

/** Milliseconds that an agent has to end a turn that was interrupted, before it is ended itself: a person waits. */
const CANCEL_GRACE_MS = 3_000;

/**
 * Hears Ctrl-C, a request to end, and output that cannot be written any more. The first aborts `signal`; a second one calls
 * `force`. The exit code is the first one's.
 */
class Interrupt {
  /** @param {import('./types').World} world */
  constructor({ signals, stdout, stderr }) {
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
    // Nobody reads the answer any more, or it fits nowhere: there is no point in going on.
    const onFailed = on(exitCodes.failed);
    const onError = (/** @type {NodeJS.ErrnoException} */ error) => (Output.isGone(error) ? onInt : onFailed)();
    const onKey = () => {
      if (this.exitCode === undefined && stderr.isTTY) stderr.write('\nacp: ending the agent; Ctrl-C again ends it at once\n');
      onInt();
    };
    signals.on('SIGINT', onKey);
    signals.on('SIGTERM', onTerm);
    stdout.on('error', onError);
    stdout.on('close', onInt);
    if (stdout.destroyed) onInt();
    this.dispose = () => {
      signals.off('SIGINT', onKey);
      signals.off('SIGTERM', onTerm);
      stdout.off('error', onError);
      stdout.off('close', onInt);
    };
  }

  /** Aborts at the first interruption. */
  get signal() {
    return this.controller.signal;
  }
}

module.exports = { CANCEL_GRACE_MS, Interrupt };
