'use strict';

// The runner of the test suites must end whatever a suite does.

const assert = require('node:assert/strict');
const test = require('node:test');

const { tee } = require('../../scripts/common');
const { waitGone } = require('../support/process');

/** @param {string} source @param {number} minutes */
const run = (source, minutes) => tee(process.execPath, ['-e', source], minutes);

test('hands back the status and the output', async () => {
  const { status, output } = await run('console.log(1 + 1); process.exitCode = 3', 1);
  assert.deepEqual([status, output], [3, '2\n']);
});

test('a suite that hangs is ended with what it started, and has failed', async () => {
  const child = "require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e3)'], { stdio: 'inherit' })";
  const { status, output } = await run(`console.log(${child}.pid)`, 2 / 60);
  assert.equal(status, 1);
  await waitGone([Number(output)]);
});

test('what a suite left behind does not keep it', async () => {
  const options = "{ stdio: 'inherit', detached: true }";
  const child = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e3)'], ${options})`;
  const { status, output } = await run(`const child = ${child}; child.unref(); console.log(child.pid); process.exit(0)`, 1);
  assert.equal(status, 0);
  process.kill(Number(output), 'SIGKILL');
});
