'use strict';

// `npm run chaos -- --seed n --episodes n [--together n] [--verbose]`: the episodes of chaos.test.js, as many as you like.

const { parseArgs } = require('node:util');
const { run } = require('./episodes.js');

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    episodes: { type: 'string', default: '100' },
    together: { type: 'string', default: '1' },
    verbose: { type: 'boolean', default: false },
  },
});

const [seed, episodes, together] = [values.seed, values.episodes, values.together].map(Number);

async function main() {
  const begun = performance.now();
  const failures = await run({
    seed, episodes, together,
    onFailure({ seed, violations, log }) {
      process.stdout.write(`seed ${seed}: ${violations.join('\n  ')}\n`);
      if (values.verbose) process.stdout.write(`${log.map((line) => `    ${line}`).join('\n')}\n`);
    },
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  process.stdout.write(`${episodes} episodes from seed ${seed} in ${seconds} s: ${failures} failed\n`);
  process.exitCode = failures === 0 ? 0 : 1;
}

void main();
