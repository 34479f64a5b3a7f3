'use strict';

/**
 * Every check, in the order they run and are shown.
 *
 * @typedef {import('../lib/verdict.js').Verdict} Verdict
 * @typedef {import('../lib/case.js').Case} Case
 *
 * @typedef {object} PlainCheck
 * @property {string} id
 * @property {string} title one line for the document
 * @property {undefined} [parts]
 * @property {(test: Case) => Promise<Verdict>} run
 *
 * @typedef {object} CheckInParts one that looks at several things with one agent
 * @property {string} id
 * @property {string} title
 * @property {{ id: string, title: string }[]} parts what it looks at, each with a column of its own
 * @property {(test: Case) => Promise<Record<string, Verdict>>} run
 *
 * @typedef {PlainCheck | CheckInParts} Check
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
  require('./sessions.js'),
  require('./settings.js'),
  require('./image.js'),
  require('./mcp.js'),
  require('./transcript.js'),
];

/** What is shown: a column each. @type {{ id: string, title: string }[]} */
const COLUMNS = CHECKS.flatMap((check) => check.parts ?? [check]);

module.exports = { CHECKS, COLUMNS };
