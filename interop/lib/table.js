'use strict';

/** The agents: one JSON file a row under `interop/agents/`. */

const fs = require('node:fs');
const path = require('node:path');

const AGENTS_DIR = path.join(__dirname, '..', 'agents');
const STEPS = ['setMode', 'setModel', 'setConfigOption'];
const STATUSES = ['ok', 'fail', 'n/a', 'not offered'];

/**
 * Text in `command`, `env` and `home` may hold `{bin}` and `{dir}` (where the agent is installed), `{kit}`, `{node}`,
 * `{nodeDir}`, `{home}`, `{cwd}` and `{port}` (the fake model's).
 *
 * @typedef {object} AgentRow
 * @property {string} id
 * @property {string} title
 * @property {{ npm?: string[], pip?: string[], python?: string }} install packages with exact versions
 * @property {string} [installedBy] id of the row whose installation this one shares
 * @property {string[]} command program and arguments
 * @property {Record<string, string>} env on top of the base environment
 * @property {Record<string, unknown>} home files in the scratch HOME: text, or a value written as JSON
 * @property {Record<string, unknown>[]} [afterNew] steps after session/new, such as `{ "setMode": "read-only" }`
 * @property {Record<string, unknown>} [settings] of `AcpRuntimeAdapter`, in place of those that start `command`
 * @property {string[]} [signIn] files of the HOME that sign in; only for the pinned Claude bridge
 * @property {boolean} [shortPrompts] a prompt that is not short may be left unanswered
 * @property {number} [idleMs] silence after which `long-ask` gives up, where the usual is not right
 * @property {boolean} [usesModel] false for an agent that never calls a model
 * @property {Record<string, { is: Status | Status[], because: string }>} expect checks that are known not to be `ok`, or
 *   not always
 * @property {{ agent: string, runtime: string }[]} faults what the agent does wrong, and how the runtime copes
 *
 * @typedef {'ok' | 'fail' | 'n/a' | 'not offered'} Status
 */

/** @returns {AgentRow[]} every row, ordered by id */
function loadTable() {
  const files = fs.readdirSync(AGENTS_DIR).filter((name) => name.endsWith('.json'));
  return files.sort().map((name) => {
    const row = JSON.parse(fs.readFileSync(path.join(AGENTS_DIR, name), 'utf8'));
    const faults = validate(row);
    if (row.id !== path.basename(name, '.json')) faults.push('id must be the file name');
    if (faults.length > 0) throw new Error(`interop/agents/${name}: ${faults.join('; ')}`);
    return row;
  });
}

/**
 * @param {any} row
 * @returns {string[]} what is wrong with it
 */
function validate(row) {
  const faults = [];
  if (typeof row.title !== 'string') faults.push('title is missing');
  if (!Array.isArray(row.command) || row.command.length === 0) faults.push('command is missing');
  if (!Array.isArray(row.install?.npm) === !Array.isArray(row.install?.pip)) faults.push('install needs npm or pip');
  for (const name of [...(row.install?.npm ?? []), ...(row.install?.pip ?? [])]) {
    if (!/.(@|==)\d/.test(name)) faults.push(`${name} has no exact version`);
  }
  if (!isRecord(row.env) || !isRecord(row.home)) faults.push('env and home must be objects');
  if (!isRecord(row.expect)) faults.push('expect must be an object');
  for (const [check, expected] of Object.entries(row.expect ?? {})) {
    const statuses = [expected.is].flat();
    if (!statuses.every((status) => STATUSES.includes(status))) faults.push(`expect.${check}.is is none of ${STATUSES.join(', ')}`);
    if (!expected.because) faults.push(`expect.${check} gives no reason`);
  }
  if (row.settings !== undefined && !isRecord(row.settings)) faults.push('settings must be an object');
  for (const name of row.signIn ?? []) if (!(name in row.home)) faults.push(`signIn names ${name}, which home has not`);
  for (const step of row.afterNew ?? []) {
    for (const name of Object.keys(step)) if (!STEPS.includes(name)) faults.push(`unknown step ${name}`);
  }
  if (!Array.isArray(row.faults)) faults.push('faults must be a list');
  return faults;
}

/** @param {unknown} value */
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param {AgentRow[]} rows
 * @param {string[]} ids all rows when empty
 */
function select(rows, ids) {
  const unknown = ids.filter((id) => !rows.some((row) => row.id === id));
  if (unknown.length > 0) throw new Error(`no such agent: ${unknown.join(', ')}`);
  return ids.length === 0 ? rows : rows.filter((row) => ids.includes(row.id));
}

/**
 * Replaces the placeholders in every text of a value, keys included.
 *
 * @template T
 * @param {T} value
 * @param {Record<string, string>} places
 * @returns {T}
 */
function fill(value, places) {
  if (typeof value === 'string') {
    return /** @type {T} */ (value.replace(/\{(\w+)\}/g, (whole, name) => places[name] ?? whole));
  }
  if (Array.isArray(value)) return /** @type {T} */ (value.map((item) => fill(item, places)));
  if (isRecord(value)) {
    const entries = Object.entries(/** @type {object} */ (value));
    return /** @type {T} */ (Object.fromEntries(entries.map(([key, item]) => [fill(key, places), fill(item, places)])));
  }
  return value;
}

module.exports = { fill, loadTable, select, validate };
