'use strict';

const { ratios, summary } = require('../lib/stats');

/**
 * What of `Measured` the rows need.
 *
 * @template S
 * @typedef {object} Samples
 * @property {(name: string, figure: (sample: S) => number) => number[] | undefined} runs
 * @property {(...names: string[]) => string} why
 */

/**
 * A row with the same figure of several clients.
 *
 * @template S
 * @param {Samples<S>} measured
 * @param {{ id: string, measure: string, unit: string, clients: string[], suffix?: string,
 *   figure: (sample: S) => number }} what `suffix` is put to a client's name to find its variant.
 * @returns {import('./context').Row}
 */
function row(measured, { id, measure, unit, clients, suffix = '', figure }) {
  /** @type {Record<string, import('./context').Cell>} */
  const cells = {};
  for (const client of clients) {
    const runs = measured.runs(client + suffix, figure);
    cells[client] = runs ? summary(runs) : measured.why(client + suffix);
  }
  return { id, measure, unit, cells };
}

/**
 * A row with ratios of two variants per client, taken run by run.
 *
 * @template S
 * @param {Samples<S>} measured
 * @param {{ id: string, measure: string, pairs: Record<string, [string, string]>, figure: (sample: S) => number }} what
 *   `pairs`: the variants above and below the line, by client.
 * @returns {import('./context').Row}
 */
function ratioRow(measured, { id, measure, pairs, figure }) {
  /** @type {Record<string, import('./context').Cell>} */
  const cells = {};
  for (const [client, [above, below]] of Object.entries(pairs)) {
    const [a, b] = [measured.runs(above, figure), measured.runs(below, figure)];
    cells[client] = a && b ? summary(ratios(a, b)) : measured.why(above, below);
  }
  return { id, measure, unit: '×', cells };
}

/**
 * Holds the package's median against a limit.
 *
 * @param {import('./context').Row} target
 * @param {'<=' | '>=' | '<'} relation
 * @param {number} limit
 * @param {string[]} [clients] Columns that the target holds for.
 * @returns {import('./context').Row}
 */
function held(target, relation, limit, clients = ['ours']) {
  const sign = { '<=': '≤', '>=': '≥', '<': '<' }[relation];
  const cells = clients.map((client) => target.cells[client]);
  const measured = cells.filter((cell) => typeof cell === 'object');
  const fits = (/** @type {number} */ value) =>
    relation === '<=' ? value <= limit : relation === '>=' ? value >= limit : value < limit;
  const met = measured.length === cells.length ? measured.every((cell) => fits(cell.median)) : undefined;
  return { ...target, target: { text: `${sign} ${limit}`, met } };
}

module.exports = { row, ratioRow, held };
