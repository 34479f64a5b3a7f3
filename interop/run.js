#!/usr/bin/env node
'use strict';

/** Drives real ACP agents through this package. See `interop/README.md`. */

const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { CHECKS } = require('./checks/index.js');
const { abandon, runCase } = require('./lib/case.js');
const { document } = require('./lib/document.js');
const { loadClient } = require('./lib/driver.js');
const { agentsDir, install, isInstalled } = require('./lib/install.js');
const { network, reenter } = require('./lib/network.js');
const { asExpected, describeRun, load, save, terminalTable } = require('./lib/report.js');
const { loadTable, select } = require('./lib/table.js');
const { publish } = require('./lib/transcript.js');
const { FakeModel } = require('./model/server.js');

const USAGE = `Usage: npm run interop -- [command] [agent...] [options]

  list                 the agents, and whether they are installed
  install [agent...]   install agents into ${'$ACP_AGENTS_DIR'} or the user's cache directory (100-450 MB each)
  run [agent...]       run the checks (the default); all installed agents when none is named
  show [agent...]      the table of the stored results
  transcripts [agent...]  copy the recorded transcripts into crates/acp-testkit/transcripts/real
  doc                  write docs/interop.md from the stored results
  model [port]         only the fake model server

  --check a,b          only these checks
  --client file        drive another client than this package
  --host-network       do not use a network namespace
  --json file          also write this run's results there
`;

const rows = loadTable();

function list() {
  for (const row of rows) {
    const names = [...(row.install.npm ?? []), ...(row.install.pip ?? [])].join(' ');
    console.log(`${isInstalled(row) ? 'installed' : '         '}  ${row.id.padEnd(20)} ${names}`);
  }
  console.log(`\nin ${agentsDir()}`);
}

/** @param {string[]} ids */
function installAll(ids) {
  for (const row of select(rows, ids)) {
    const owner = row.installedBy ? select(rows, [row.installedBy])[0] : row;
    if (isInstalled(owner)) continue;
    console.log(`installing ${owner.id}`);
    install(owner);
  }
}

/**
 * @param {string[]} ids
 * @param {{ check?: string, client?: string, json?: string }} options
 * @returns {Promise<boolean>} everything was as the rows expect
 */
async function run(ids, options) {
  const client = loadClient(options.client);
  const checks = pickChecks(options.check);
  const chosen = select(rows, ids).filter((row) => {
    if (isInstalled(row)) return true;
    console.log(`${row.id}: not installed, left out`);
    return false;
  });
  const model = await new FakeModel().listen();
  const about = describeRun(network());
  console.log(`${client.name} ${client.version}, in ${about.network}`);
  let brokenOff = false;
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      brokenOff = true;
      abandon().finally(() => process.exit(130));
    });
  }
  const results = new Map();
  let good = chosen.length > 0;
  for (const row of chosen) {
    /** @type {import('./lib/report.js').AgentResult} */
    const result = {
      id: row.id,
      packages: [...(row.install.npm ?? []), ...(row.install.pip ?? [])],
      client: { name: client.name, version: client.version },
      run: about,
      checks: {},
    };
    for (const check of checks) {
      if (brokenOff) return false;
      if (check.only && !check.only(row)) continue;
      const found = await runCase(check, row, client, model);
      result.checks[check.id] = found;
      const expected = asExpected(row, check.id, found);
      good &&= expected;
      const left = found.survivors?.atOnce ?? [];
      const staying = found.survivors?.staying ?? [];
      const ends = left.length === 0 ? '' : ` LEFT ${left.length} (${staying.length} stay): ${left[0]}`;
      const mark = expected ? ' ' : '!';
      console.log(`${mark} ${row.id} ${check.id}: ${found.status} ${found.note} [${found.seconds} s]${ends}`);
    }
    results.set(row.id, result);
    save(result);
  }
  await model.close();
  for (const fault of model.faults) console.log(`fake model: ${fault}`);
  console.log(
    `\n${terminalTable(
      chosen,
      results,
      checks.map((check) => check.id),
    )}`,
  );
  if (options.json) fs.writeFileSync(options.json, `${JSON.stringify([...results.values()], null, 2)}\n`);
  return good && model.faults.length === 0;
}

/** @param {string | undefined} names */
function pickChecks(names) {
  if (!names) return CHECKS;
  return names.split(',').map((name) => {
    const found = CHECKS.find((check) => check.id === name);
    if (!found) throw new Error(`no such check: ${name}; there are ${CHECKS.map((check) => check.id).join(', ')}`);
    return found;
  });
}

/** @param {string[]} ids */
function show(ids) {
  const results = new Map();
  for (const { id } of select(rows, ids)) {
    const result = load(id);
    if (result) results.set(id, result);
  }
  console.log(
    terminalTable(
      rows,
      results,
      CHECKS.map((check) => check.id),
    ),
  );
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      check: { type: 'string' },
      client: { type: 'string' },
      'host-network': { type: 'boolean' },
      json: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const [command = 'run', ...rest] = positionals;
  if (values.help) return console.log(USAGE);
  switch (command) {
    case 'list':
      return list();
    case 'install':
      return installAll(rest);
    case 'show':
      return show(rest);
    case 'doc': {
      const file = path.join(__dirname, '..', 'docs', 'interop.md');
      fs.writeFileSync(file, document(rows, CHECKS, loadClient(values.client).name));
      return undefined;
    }
    case 'transcripts': {
      const ids = select(rows, rest).map(({ id }) => id);
      return console.log(publish(ids).join('\n'));
    }
    case 'model': {
      const model = await new FakeModel().listen(Number(rest[0] ?? 0));
      return console.log(`http://127.0.0.1:${model.port}`);
    }
    case 'run': {
      const inside = values['host-network'] ? undefined : reenter();
      const good = inside ? (await inside) === 0 : await run(rest, values);
      process.exitCode = good ? 0 : 1;
      return undefined;
    }
    default:
      console.error(USAGE);
      process.exitCode = 2;
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
