'use strict';

// A transcript may come from anybody: what it calls things changes nothing outside of it.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { ends, played, prompted, transcript, update } = require('./support');

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

test('names of what every object has are names like others', async (t) => {
  const before = NAMES.map((name) => Object.getOwnPropertyNames(/** @type {any} */ ({})[name] ?? {}).length);
  const updates = NAMES.flatMap((name) => [
    update({ sessionUpdate: 'tool_call', toolCallId: name, title: `title of ${name}`, kind: 'read', status: 'pending' }),
    update({ sessionUpdate: 'tool_call_update', toolCallId: name, status: 'completed' }),
    update({ sessionUpdate: name, x: 1 }),
  ]);
  const outcome = await played(t, transcript(/** @type {any} */ ([...prompted(), ...updates, ends()])));
  assert.equal(outcome.divergence, undefined, JSON.stringify(outcome.divergence));
  const [turn] = outcome.turns;
  for (const name of NAMES) {
    const call = Object.getOwnPropertyDescriptor(turn.toolCalls, name)?.value;
    assert.deepEqual(call, { title: `title of ${name}`, kind: 'read', status: 'completed' });
  }
  assert.deepEqual(NAMES.map((name) => Object.getOwnPropertyNames(/** @type {any} */ ({})[name] ?? {}).length), before);
  for (const member of ['title', 'kind', 'status']) assert.equal(/** @type {any} */ ({})[member], undefined);
});
