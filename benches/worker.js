'use strict';

// Measures one client once, in this fresh process, and writes the figures to standard output as one JSON object.
// Started by `lib/sample.js`: node worker.js <measure> <client> <options as JSON>

const { load } = require('./clients');

const measures = {
  turn: './measures/turn',
  ask: './measures/ask',
  cycles: './measures/cycles',
  import: './measures/import',
};

async function main() {
  const [measure, client, options] = process.argv.slice(2);
  const file = measures[/** @type {keyof typeof measures} */ (measure)];
  if (!file) throw new Error(`no measure named ${measure}`);
  const figures = await require(file).measure(() => load(client), JSON.parse(options));
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(1);
  },
);
