'use strict';

/**
 * How a check went.
 *
 * @typedef {import('./table.js').Status} Status
 * @typedef {{ status: Status, note: string }} Verdict
 */

/** @param {string} [note] @returns {Verdict} */
const ok = (note = '') => ({ status: 'ok', note });
/** @param {string} note @returns {Verdict} */
const fail = (note) => ({ status: 'fail', note });
/** @param {string} note @returns {Verdict} */
const notApplicable = (note) => ({ status: 'n/a', note });

/** @param {any} error */
function describe(error) {
  const code = error?.code === undefined ? '' : ` [${error.code}]`;
  return `${String(error?.message ?? error).slice(0, 300)}${code}`;
}

module.exports = { describe, fail, notApplicable, ok };
