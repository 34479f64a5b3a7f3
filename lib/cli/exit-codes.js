'use strict';

/** The exit codes of the command line; `docs/cli.md` lists them. */
const exitCodes = Object.freeze({
  ok: 0,
  failed: 1,
  usage: 2,
  handshakeTimeout: 124,
  missingBinary: 127,
  interrupted: 130,
  terminated: 143,
});

/** The command line itself is wrong: what is wrong with it is the message. */
class UsageError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'UsageError';
  }
}

/**
 * The exit code for a failure's code, or for a probe's reason: the two use the same words.
 *
 * @param {unknown} code
 */
function exitCodeFor(code) {
  if (code === 'missing_binary') return exitCodes.missingBinary;
  if (code === 'handshake_timeout') return exitCodes.handshakeTimeout;
  return exitCodes.failed;
}

module.exports = { exitCodes, exitCodeFor, UsageError };
