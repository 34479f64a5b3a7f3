'use strict';

// `npm run chaos -- --seed n --episodes n [--together n] [--hosts n] [--verbose]`: the episodes of chaos.test.js, as many
// as you like; `--hosts` is how many of hosts that end.

const { parseArgs } = require('node:util');
const { run } = require('./episodes.js');
const { hostEpisode } = require('./outside.js');

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    episodes: { type: 'string', default: '100' },
    together: { type: 'string', default: '1' },
    hosts: { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
  },
});

const [seed, episodes, together, hosts] = [values.seed, values.episodes, values.together, values.hosts].map(Number);

/** @param {import('./episodes').Failure} failure */
function show({ seed, violations, log }) {
  process.stdout.write(`seed ${seed}: ${violations.join('\n  ')}\n`);
  if (values.verbose) process.stdout.write(`${log.map((line) => `    ${line}`).join('\n')}\n`);
}

async function main() {
  const begun = performance.now();
  let failures = await run({ seed, episodes, together, onFailure: show });
  for (let i = 0; i < hosts; i++) {
    const failure = await hostEpisode(seed + i);
    if (failure === undefined) continue;
    failures += 1;
    show(failure);
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  process.stdout.write(`${episodes} episodes and ${hosts} hosts from seed ${seed} in ${seconds} s: ${failures} failed\n`);
  process.exitCode = failures === 0 ? 0 : 1;
}

void main();
