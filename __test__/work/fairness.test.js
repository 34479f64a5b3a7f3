'use strict';

// Many agents, one host: those that have something to say take turns.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { skip, children, blockUntilStill, flooded } = require('./accounts');

/** Segments of one slice; `SLICE` of lib/native/hub.js. */
const SLICE = 512;

test('agents that wait for the host are served in turn', { skip }, async () => {
  const agents = 8;
  // Less than a queue holds, so that every agent is done before the host goes on.
  const count = 6_000;
  /** @type {number[]} */
  const served = new Array(agents).fill(0);
  /** @type {number[] | undefined} */
  let start;
  let spread = 0;
  /** @type {number[]} */
  let pids = [];
  const open = await Promise.all(
    served.map((_, i) =>
      flooded(count, () => {
        start ??= (blockUntilStill(pids), [...served]);
        served[i]++;
        const since = served.map((n, j) => n - (start?.[j] ?? 0));
        const waiting = since.filter((_, j) => served[j] < count);
        // A turn may begin later than the others: only those that were heard count.
        const heard = waiting.filter((n) => n > 0);
        if (heard.length > 1) spread = Math.max(spread, Math.max(...heard) - Math.min(...heard));
      }),
    ),
  );
  try {
    pids = children(open[0].program);
    assert.equal(pids.length, agents);
    await Promise.all(open.map((agent) => agent.prompt()));
    assert.deepEqual(served, new Array(agents).fill(count));
    assert.ok(spread <= 2 * SLICE, `one agent was ${spread} updates ahead of another that waited`);
  } finally {
    await Promise.all(open.map((agent) => agent.close()));
  }
});
