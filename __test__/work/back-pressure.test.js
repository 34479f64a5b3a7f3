'use strict';

// A host that does not keep up: its agent waits, memory stays bounded, nothing is lost.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { skip, children, blockUntilStill, flooded } = require('./accounts');

test('an agent whose host blocks is slowed by its pipe, and nothing is lost', { skip }, async () => {
  const count = 120_000;
  let seen = 0;
  let disorder = 0;
  let blockedAt = 0;
  let grown = 0;
  /** @type {number[]} */
  let pids = [];
  const agent = await flooded(count, (text) => {
    if (seen === 0) {
      const before = process.memoryUsage.rss();
      [blockedAt] = blockUntilStill(pids);
      grown = process.memoryUsage.rss() - before;
    }
    // The spacing of the event bridge may put a space in front.
    if (Number(text.trimStart().slice(0, 8)) !== seen) disorder++;
    seen++;
  });
  try {
    pids = children(agent.program);
    assert.equal(pids.length, 1);
    await agent.prompt();
    assert.equal(seen, count);
    assert.equal(disorder, 0);
    // Each update takes more than 100 bytes on the wire; the queue holds 16,384 of them or 4 MiB of text.
    assert.ok(blockedAt < (count * 100) / 2, `the agent had written ${blockedAt} bytes`);
    assert.ok(grown < 64 * 1024 * 1024, `${grown} bytes more while the host blocked`);
  } finally {
    await agent.close();
  }
});
