'use strict';

// What is held for a consumer that does not keep up is bounded in events and in text, whatever the agent sends.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { EventQueue, HIGH, HIGH_UNITS } = require('../../lib/client/event-queue.js');
const { PromptTurn } = require('../../lib/client/turn.js');
const { initialize, scripted } = require('../support/scripted.js');

const LENGTHS = [0, 1, 100, 5000, HIGH_UNITS / 8, HIGH_UNITS - 1, HIGH_UNITS, 3 * HIGH_UNITS];

/** A queue, and how it pressed. */
function watched() {
  /** @type {boolean[]} */
  const presses = [];
  return { presses, queue: new EventQueue((_, paused) => presses.push(paused)) };
}

for (const units of LENGTHS) {
  const most = Math.min(HIGH, Math.ceil(HIGH_UNITS / units));

  test(`a queue presses once it holds ${most} events of ${units} code units, and then lets go`, async () => {
    const { presses, queue } = watched();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < most; i++) {
        assert.ok(!queue.paused);
        queue.push(i, units);
      }
      assert.ok(queue.paused);
      for (let i = 0; i < most; i++) assert.deepEqual(await queue.next(), { done: false, value: i });
      assert.ok(!queue.paused);
      assert.deepEqual([queue.size, queue.units], [0, 0]);
    }
    assert.deepEqual(presses, [true, false, true, false, true, false]);
  });

  test(`a turn that nobody claims keeps fewer than ${most} events of ${units} code units`, async () => {
    const turn = new PromptTurn(/** @type {any} */ ({}), () => {});
    for (let i = 0; i < most - 1; i++) turn.push(i, units);
    assert.ok(turn.listening);
    turn.push(most - 1, units);
    assert.ok(!turn.listening);
    assert.equal(turn.unclaimed, undefined);
  });
}

test('what a turn kept counts for whoever claims it', async () => {
  /** @type {boolean[]} */
  const presses = [];
  const turn = new PromptTurn(/** @type {any} */ ({}), (_, paused) => presses.push(paused));
  for (let i = 0; i < 3; i++) turn.push(i, HIGH_UNITS / 4);
  const events = /** @type {EventQueue<number>} */ (turn[Symbol.asyncIterator]());
  turn.push(3, HIGH_UNITS / 4);
  assert.deepEqual(presses, [true]);
  for (let i = 0; i < 4; i++) assert.equal((await events.next()).value, i);
  assert.deepEqual(presses, [true, false]);
});

test('a consumer that always is behind leaves no trail', async () => {
  const { queue } = watched();
  let longest = 0;
  for (let i = 0; i < 100; i++) queue.push(i, 1);
  for (let i = 100; i < 50 * HIGH; i++) {
    queue.push(i, 1);
    assert.equal((await queue.next()).value, i - 100);
    longest = Math.max(longest, queue.held.length);
  }
  assert.deepEqual([queue.size, queue.units], [100, 100]);
  assert.ok(longest <= 4 * HIGH, `${longest} slots for 101 events`);
});

test('an agent whose updates are long waits for a host that takes none of them', async () => {
  const count = 64;
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 't', rawOutput: 'x'.repeat(1024 * 1024) };
  let arrived = 0;
  const client = await scripted([
    initialize({}),
    { do: 'session_new', sessionId: 's1' },
    { do: 'prompt_begin', sessionId: 's1' },
    { do: 'flood', count, update },
    { do: 'prompt_end' },
  ]);
  const session = await client.newSession();
  const turn = session.prompt('go');
  const events = /** @type {EventQueue<any>} */ (turn[Symbol.asyncIterator]());
  await events.next();
  for (let still = 0; still < 20; ) {
    await sleep(20);
    still = arrived === events.units ? still + 1 : 0;
    arrived = events.units;
  }
  assert.ok(arrived >= HIGH_UNITS);
  // What was on its way when it pressed still comes: one slice.
  assert.ok(arrived <= 4 * HIGH_UNITS, `${arrived} code units are held`);
  let seen = 1;
  for await (const event of events) seen += Number(event.type === 'tool_call_update');
  assert.equal(seen, count);
  assert.equal((await turn).stopReason, 'end_turn');
  await client.close();
});
