'use strict';

/**
 * Every check, in the order they run and are shown.
 *
 * @typedef {object} Check
 * @property {string} id
 * @property {string} title one line for the document
 * @property {(row: import('../lib/table.js').AgentRow) => boolean} [only] the rows that it is for; all rows when absent
 * @property {(test: import('../lib/case.js').Case) => Promise<import('../lib/case.js').Verdict>} run
 */

/** @type {Check[]} */
const CHECKS = [
  require('./ask.js'),
  require('./ask-once.js'),
  ...require('./bridge.js'),
  ...require('./engine.js'),
  require('./probe.js'),
  require('./long-prompt.js'),
  require('./streaming.js'),
  ...require('./permission.js'),
  require('./cancel-stream.js'),
  require('./cancel-tool.js'),
  ...require('./cut-short.js'),
  ...require('./host.js'),
  require('./transcript.js'),
];

module.exports = { CHECKS };
