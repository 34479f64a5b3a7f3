'use strict';

/** What a run found: kept as JSON, an agent a file, and shown as a table. */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { agentsDir } = require('./install.js');

/**
 * @typedef {import('./case.js').CaseResult} CaseResult
 * @typedef {object} AgentResult
 * @property {string} id
 * @property {string[]} packages
 * @property {{ name: string, version: string }} client
 * @property {{ date: string, cores: number, system: string, node: string, network: string }} run
 * @property {Record<string, CaseResult>} checks
 */

const RESULTS_DIR = () => path.join(path.dirname(agentsDir()), 'interop');

/** @param {AgentResult} result keeps what other runs found for checks that this one left out */
function save(result) {
  fs.mkdirSync(RESULTS_DIR(), { recursive: true });
  const kept = load(result.id);
  const same = kept && kept.client.name === result.client.name && kept.client.version === result.client.version;
  const whole = { ...result, checks: { ...(same ? kept.checks : {}), ...result.checks } };
  fs.writeFileSync(path.join(RESULTS_DIR(), `${result.id}.json`), `${JSON.stringify(whole, null, 2)}\n`);
}

/** @param {string} id @returns {AgentResult | undefined} */
function load(id) {
  try {
    return JSON.parse(fs.readFileSync(path.join(RESULTS_DIR(), `${id}.json`), 'utf8'));
  } catch {
    return undefined;
  }
}

/** The system this runs on, by what matters for a reader and no more. @param {string} network */
function describeRun(network) {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: os.availableParallelism(),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    network,
  };
}

/**
 * Whether a result is what the row says it must be. A process left behind is never expected; an agent without a model
 * has no tools, and what one does not offer is no fault, unless the row says that it does.
 *
 * @param {import('./table.js').AgentRow} row
 * @param {string} check
 * @param {CaseResult} result
 */
function asExpected(row, check, result) {
  const stated = [row.expect[check]?.is ?? 'ok'].flat();
  const excused =
    row.expect[check] === undefined &&
    (result.status === 'not offered' || (row.usesModel === false && result.status === 'n/a'));
  return (stated.includes(result.status) || excused) && (result.survivors?.atOnce.length ?? 0) === 0;
}

/**
 * @param {import('./table.js').AgentRow} row
 * @param {string} check
 * @param {CaseResult | undefined} result
 */
function cell(row, check, result) {
  if (!result) return '';
  const left = result.survivors?.atOnce.length ?? 0;
  const text = `${result.status === 'not offered' ? '-' : result.status}${left > 0 ? ` +${left}` : ''}`;
  return asExpected(row, check, result) ? text : `${text} !`;
}

/**
 * @param {import('./table.js').AgentRow[]} rows
 * @param {Map<string, AgentResult>} results
 * @param {string[]} checks
 */
function terminalTable(rows, results, checks) {
  const lines = [['agent', ...checks]];
  for (const row of rows) {
    const result = results.get(row.id);
    if (result) lines.push([row.id, ...checks.map((check) => cell(row, check, result.checks[check]))]);
  }
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const text = lines.map((line) =>
    line
      .map((each, column) => each.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
  return `${text.join('\n')}\n\n-: not offered   +n: processes left behind   !: not what the agent's row expects`;
}

module.exports = { asExpected, describeRun, load, RESULTS_DIR, save, terminalTable };
