'use strict';

// Random agents against random hosts: whatever either does, each promise settles with a documented code, text arrives in
// order, and nothing is left. `npm run chaos` runs as many episodes as you like; a seed that fails is printed.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { run } = require('./episodes.js');
const { hostEpisode } = require('./outside.js');

/** @param {import('./episodes').Failure[]} failures */
function none(failures) {
  const told = failures.map(({ seed, violations, log }) => `seed ${seed}:\n  ${[...violations, ...log].join('\n  ')}`);
  assert.equal(failures.length, 0, told.join('\n'));
}

test('hosts that stay', async () => {
  /** @type {import('./episodes').Failure[]} */
  const failures = [];
  await run({ seed: 1, episodes: 16, together: 4, onFailure: (failure) => void failures.push(failure) });
  none(failures);
});

test('hosts that end, one way or another', { skip: process.platform === 'win32' && 'survivors are found by /proc and ps' }, async () => {
  const failures = await Promise.all([1, 2, 3, 4].map((seed) => hostEpisode(seed)));
  none(failures.filter((failure) => failure !== undefined));
});
