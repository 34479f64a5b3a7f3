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
 * @property {(row: import('../lib/table.js').AgentRow) => boolean} [fits] absent: it is for every agent
 * @property {(test: Case) => Promise<Verdict>} run
 *
 * @typedef {object} CheckInParts one that looks at several things with one agent
 * @property {string} id
 * @property {string} title
 * @property {undefined} [fits]
 * @property {{ id: string, title: string }[]} parts what it looks at, each with a column of its own
 * @property {(test: Case) => Promise<Record<string, Verdict>>} run
 *
 * @typedef {PlainCheck | CheckInParts} Check
 */

/**
 * In the order they run and are shown, a table a group.
 *
 * @type {{ title: string, checks: Check[] }[]}
 */
const GROUPS = [
  {
    title: 'Answers',
    checks: [
      require('./ask.js'),
      require('./probe.js'),
      require('./long-prompt.js'),
      require('./streaming.js'),
    ],
  },
  {
    title: 'As the Fusion engine does it',
    checks: [require('./ask-once.js'), ...require('./bridge.js'), ...require('./engine.js')],
  },
  {
    title: 'Permissions and cancelling',
    checks: [...require('./permission.js'), require('./cancel-stream.js'), require('./cancel-tool.js')],
  },
  { title: 'Ends', checks: [...require('./cut-short.js'), ...require('./host.js')] },
  { title: 'Sessions', checks: [require('./sessions.js')] },
  { title: 'Settings', checks: [require('./settings.js')] },
  { title: 'Content', checks: [require('./image.js'), require('./mcp.js'), require('./transcript.js')] },
];

const CHECKS = GROUPS.flatMap(({ checks }) => checks);

/** What a check shows: a column for itself, or for each of its parts. @param {Check} check */
const columnsOf = (check) => check.parts ?? [{ id: check.id, title: check.title, fits: check.fits }];

const COLUMNS = CHECKS.flatMap(columnsOf);

module.exports = { CHECKS, COLUMNS, columnsOf, GROUPS };
