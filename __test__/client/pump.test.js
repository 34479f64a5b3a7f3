'use strict';

// However many and however long the segments that wait: the event loop gets its turn in between.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { getHub, Kind } = require('../../lib/native/hub.js');

/** Segments that a round may deliver, and the text that it may. */
const [SEGMENTS, UNITS] = [1024, 256 * 1024];

/**
 * What each round of the event loop delivers while slices of one shape never run out.
 *
 * @param {number} count Segments per slice.
 * @param {number} length Code units per segment.
 * @param {number} total Segments in all.
 */
async function rounds(count, length, total) {
  const hub = getHub();
  const { native } = hub;
  const id = 0xfffffff0;
  const text = 'x'.repeat(length * count);
  /** @type {number[]} */
  const delivered = [0];
  let left = total;
  const ended = new Promise((resolve) => {
    hub.channels.set(id, {
      receive: (_, segment) => {
        assert.equal(segment.length, length);
        delivered[delivered.length - 1] += 1;
      },
    });
    hub.native = /** @type {any} */ ({
      drain: (/** @type {Uint32Array} */ table) => {
        if (left <= 0) return null;
        left -= count;
        table.set([id, count, left > 0 ? 1 : 0]);
        table.fill(Kind.UPDATE * 2 ** 28 + length, 3, 3 + count);
        return text;
      },
    });
    const next = () => {
      if (left <= 0) return resolve(undefined);
      delivered.push(0);
      setImmediate(next);
    };
    setImmediate(next);
    hub.pump();
  });
  try {
    await ended;
  } finally {
    hub.native = native;
    hub.channels.delete(id);
  }
  return delivered.filter((segments) => segments > 0);
}

for (const [count, length] of [[1, 1], [512, 10], [512, 100], [512, 512], [512, 4096], [4, 100_000], [1, 1 << 20], [1, 1 << 23]]) {
  test(`slices of ${count} segments of ${length} code units`, async () => {
    const each = await rounds(count, length, 8 * Math.max(SEGMENTS, count));
    assert.ok(each.length > 1);
    for (const segments of each) {
      // The slice that spends the budget is the last of its round.
      const before = segments - count;
      assert.ok(before < SEGMENTS && before * length < UNITS + 256 * (before / count), `${segments} segments in a round`);
    }
    for (const segments of each.slice(0, -1)) {
      // And none ends before it is spent.
      assert.ok(segments >= SEGMENTS || segments * length >= UNITS, `${segments} segments in a round`);
    }
  });
}
