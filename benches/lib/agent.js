'use strict';

/**
 * @typedef {object} Flood
 * @property {'text' | 'tools' | 'line'} [kind]
 * @property {number} count Sent for each prompt: texts, pairs of a tool call and its result, or megabytes of one line.
 * @property {number} [chars] Length of each text; 40 unless said.
 * @property {number} [writeBytes] Bytes given to one `write`.
 */

/**
 * How the testkit's flood agent is told what to send. The one place that knows its arguments.
 *
 * @param {string} program
 * @param {Flood} flood
 * @returns {import('../clients').AgentCommand}
 */
function floodAgent(program, { kind = 'text', count, chars, writeBytes }) {
  const args = ['--kind', kind, '--count', String(count)];
  if (chars) args.push('--text-chars', String(chars));
  if (writeBytes) args.push('--write-bytes', String(writeBytes));
  return { command: program, args };
}

/**
 * Updates that a flood consists of.
 *
 * @param {Flood} flood
 */
function updatesOf({ kind, count }) {
  return { text: count, tools: 2 * count, line: 1 }[kind ?? 'text'];
}

module.exports = { floodAgent, updatesOf };
