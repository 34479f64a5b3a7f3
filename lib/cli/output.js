'use strict';

const { exitCodes } = require('./exit-codes');

/** Codes of an error that says that the reader went away. */
const GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/**
 * What became of standard output. It hears its errors from the first to the last write of a command, so that none ends the
 * process with a stack trace, and decides what they mean for the exit code.
 */
class Output {
  /** @type {NodeJS.ErrnoException | undefined} */
  #error;

  /** @param {import('./types').World} world */
  constructor({ stdout, stderr }) {
    this.stdout = stdout;
    this.stderr = stderr;
    stdout.on('error', (error) => {
      this.#error ??= error;
    });
    // There is nowhere left to say it.
    stderr.on('error', () => {});
  }

  /** @param {NodeJS.ErrnoException} error */
  static isGone(error) {
    return GONE.has(error.code ?? '');
  }

  /**
   * Waits until what was written is on its way.
   *
   * @param {number} code the exit code so far
   * @returns {Promise<number>} the exit code
   */
  async end(code) {
    // Of no length, but it comes after all that is: its callback tells what became of them.
    if (!this.stdout.destroyed) await new Promise((resolve) => this.stdout.write('', resolve));
    const error = this.#error;
    if (error === undefined || code === exitCodes.interrupted || code === exitCodes.terminated) return code;
    if (Output.isGone(error)) return exitCodes.interrupted;
    this.stderr.write(`acp: the output cannot be written: ${error.message}\n`);
    return exitCodes.failed;
  }
}

module.exports = { Output };
