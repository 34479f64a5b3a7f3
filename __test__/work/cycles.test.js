'use strict';

// Launch, ask, tear down, again and again: nothing is left behind.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AcpRuntimeAdapter, askAcpOnce, activeProcessCount } = require('../..');
const { flood } = require('../support/fake-agent');
const { skip, held } = require('./accounts');
const { waitUntil } = require('../support/process');

test('no descriptor, thread or process is left of a hundred asks', { skip }, async () => {
  const { command, args } = flood({ kind: 'text', count: 3 });
  const ask = async () => {
    const adapter = new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args });
    const answer = await askAcpOnce(adapter, { prompt: 'go', cwd: process.cwd() });
    assert.equal(answer.ok, true);
  };
  for (let i = 0; i < 10; i++) await ask();
  const before = held();
  for (let i = 0; i < 100; i++) await ask();
  // The watchdog of the last tree may still be on its way out.
  await waitUntil(() => held().descriptors <= before.descriptors && held().threads <= before.threads, 'what was held');
  assert.equal(activeProcessCount(), 0);
});
