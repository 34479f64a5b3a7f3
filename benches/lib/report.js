'use strict';

/** Columns of the table, the package first. */
const COLUMNS = ['ours', 'ours, typed', 'floor', 'node', 'sdk 0.24', 'sdk 2.4', 'incumbent'];

/**
 * All rows as one table in Markdown, so that it reads in a terminal and in a document.
 *
 * @param {import('../cases/context').Row[]} rows
 */
function table(rows) {
  const header = ['#', 'measure', 'unit', ...COLUMNS, 'target', ''];
  const lines = rows.map(({ id, measure, unit, cells, target }) => [
    id,
    measure,
    unit,
    ...COLUMNS.map((client) => cell(cells[client])),
    target?.text ?? '',
    verdict(target),
  ]);
  const widths = header.map((text, column) => Math.max(text.length, ...lines.map((line) => line[column].length)));
  const right = (/** @type {number} */ column) => column > 2 && column < header.length - 1;
  const format = (/** @type {string[]} */ line) =>
    `| ${line.map((text, i) => (right(i) ? text.padStart(widths[i]) : text.padEnd(widths[i]))).join(' | ')} |`;
  const rules = widths.map((width, i) => (right(i) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2)));
  const rule = `|${rules.join('|')}|`;
  return [format(header), rule, ...lines.map(format)].join('\n');
}

/** @param {import('../cases/context').Row['target']} target */
function verdict(target) {
  if (!target) return '';
  if (target.met === undefined) return 'not measured';
  return target.met ? 'met' : 'MISSED';
}

/**
 * The median and how far the runs lie from it: half the distance between the fastest and the slowest.
 *
 * @param {import('../cases/context').Cell | undefined} value
 */
function cell(value) {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  const spread = (value.max - value.min) / 2;
  return value.runs.length > 1 && spread > 0 ? `${number(value.median)} ±${number(spread)}` : number(value.median);
}

/**
 * Three significant digits, no exponent.
 *
 * @param {number} value
 */
function number(value) {
  if (!Number.isFinite(value)) return '?';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
}

module.exports = { table };
