'use strict';

/**
 * @typedef {object} Flood
 * @property {number} updates Updates sent for each prompt.
 * @property {'text' | 'tools'} [kind]
 * @property {number} [bytes] Length of each text, or of each tool's output.
 * @property {number} [writeBytes] Bytes given to one `write`.
 */

/**
 * How the testkit's flood agent is told what to send. The one place that knows its arguments.
 *
 * @param {string} program
 * @param {Flood} flood
 * @returns {import('../clients').AgentCommand}
 */
function floodAgent(program, { updates, kind = 'text', bytes = kind === 'text' ? 40 : 200, writeBytes = 64 * 1024 }) {
  return {
    command: program,
    args: ['--updates', String(updates), '--kind', kind, '--bytes', String(bytes), '--write', String(writeBytes)],
  };
}

module.exports = { floodAgent };
