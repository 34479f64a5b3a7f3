'use strict';

// npm run bench -- [--quick] [--only P1,P3] [--runs N] [--no-build]
// Prints one table and writes the figures to bench-results/. See docs/benchmarks.md.

const { mkdirSync, writeFileSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { Context } = require('./cases/context');
const { prepare, root } = require('./lib/prepare');
const { table } = require('./lib/report');

const all = [require('./cases/flood'), require('./cases/limits'), require('./cases/lifetime')]
  .flatMap(({ cases }) => cases)
  .sort((a, b) => order(a.ids[0]) - order(b.ids[0]));

/** @param {string} id */
function order(id) {
  return Number(id.slice(1));
}

const log = (/** @type {string} */ text) => process.stderr.write(`${text}\n`);

async function main() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      runs: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
    },
  });
  const ids = all.flatMap((entry) => entry.ids);
  const only = values.only?.split(',').map((id) => id.trim().toUpperCase()) ?? ids;
  const unknown = only.filter((id) => !ids.includes(id));
  if (unknown.length > 0) throw new Error(`no measure named ${unknown.join(', ')}; there are ${ids.join(', ')}`);
  const rounds = values.runs === undefined ? (values.quick ? 2 : 5) : Number(values.runs);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--runs takes a whole number of at least 1');

  const prepared = await prepare({ build: !values['no-build'] });
  for (const [client, why] of Object.entries(prepared.missing)) log(`${client}: not measured, ${why}`);
  const context = new Context({ ...prepared, quick: values.quick, rounds, log });

  const started = new Date();
  const loadBefore = os.loadavg()[0];
  const rows = [];
  for (const entry of all.filter(({ ids }) => ids.some((id) => only.includes(id)))) {
    log(`measuring ${entry.ids.join(', ')} …`);
    rows.push(...(await entry.run(context)));
  }
  const shown = rows.filter(({ id }) => only.includes(id));
  const machine = {
    cores: os.availableParallelism(),
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
    loadBefore,
    loadAfter: os.loadavg()[0],
  };
  process.stdout.write(`${table(shown)}\n\n`);
  process.stdout.write(
    `Median of ${rounds} runs (P9: more) ± half the range; ${machine.cores} cores, Node ${machine.node}.\n`,
  );
  if (values.quick) process.stdout.write('Quick: smaller sizes than the targets are stated for.\n');
  if (loadBefore > 0.5) process.stdout.write(`The machine was not idle before: load ${loadBefore.toFixed(2)}.\n`);

  const directory = path.join(root, 'bench-results');
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, `${started.toISOString().replaceAll(':', '-').replace(/\..*/, '')}.json`);
  const result = { started: started.toISOString(), quick: values.quick, rounds, machine, missing: prepared.missing };
  writeFileSync(file, `${JSON.stringify({ ...result, rows: shown }, null, 2)}\n`);
  log(`written to ${path.relative(process.cwd(), file)}`);
}

main().catch((error) => {
  log(error.stack ?? String(error));
  process.exitCode = 1;
});
