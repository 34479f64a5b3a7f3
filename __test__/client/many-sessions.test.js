'use strict';

// Sessions of one agent share its pipe. A host that is slow with one of them holds up that one alone.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { end, scripted } = require('../support/scripted.js');

const COUNT = 40_000;
/** Together more than one session's queue holds, and less than the shared budget. */
const UPDATE = { sessionUpdate: 'tool_call_update', toolCallId: '{i}', title: 'x'.repeat(400) };

test('a session whose consumer stands still stops neither the others nor the calls of its client', async () => {
  const client = await scripted(
    [
      { do: 'initialize' }, { do: 'session_new', sessionId: 'slow' }, { do: 'session_new', sessionId: 'quick' },
      { do: 'prompt_begin', sessionId: 'slow', as: 'slow' },
      { do: 'flood', count: COUNT, update: UPDATE, sessionId: 'slow' },
      { do: 'prompt_begin', sessionId: 'quick', as: 'quick' },
      { do: 'permission', sessionId: 'quick' }, { do: 'expect_response', to: 'permission', result: { outcome: { outcome: 'selected' } } },
      { do: 'text', text: 'quick answer', sessionId: 'quick' },
      { do: 'prompt_end', to: 'quick' },
      { do: 'expect', method: '_x/y' }, { do: 'respond', result: 1 },
      { do: 'prompt_end', to: 'slow' },
    ],
    { onPermission: () => 'allow' },
  );
  const slow = await client.newSession();
  const quick = await client.newSession();
  const iterator = slow.prompt('go')[Symbol.asyncIterator]();
  await iterator.next();
  // Nothing more is taken from the slow one; the others go on all the same.
  assert.equal((await quick.prompt('go')).text, 'quick answer');
  assert.equal(await client.request('_x/y'), 1);
  assert.ok(client.diagnostics().bytesReceived > COUNT * 400);
  let seen = 1;
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) break;
    assert.equal(/** @type {any} */ (value).toolCallId, String(seen));
    seen += 1;
  }
  assert.equal(seen, COUNT);
  await end(client);
});

test('a call that comes when the pipe is already held up gets its answer', async () => {
  const client = await scripted([
    { do: 'initialize' }, { do: 'session_new', sessionId: 'slow' },
    { do: 'prompt_begin', sessionId: 'slow', as: 'slow' },
    { do: 'flood', count: COUNT, update: UPDATE, sessionId: 'slow' },
    { do: 'expect', method: '_x/y' }, { do: 'respond', result: 1 },
    { do: 'prompt_end', to: 'slow' },
  ]);
  const slow = await client.newSession();
  const turn = slow.prompt('go');
  const iterator = turn[Symbol.asyncIterator]();
  await iterator.next();
  // With nobody else waiting the agent is slowed down, not buffered.
  let before = -1;
  while (before !== client.diagnostics().bytesReceived || before < 1_000_000) {
    before = client.diagnostics().bytesReceived;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.ok(before < COUNT * 400, `${before} bytes were read for nobody`);
  assert.equal(await client.request('_x/y'), 1);
  await iterator.return?.();
  assert.equal((await turn).stopReason, 'end_turn');
  await end(client);
});
