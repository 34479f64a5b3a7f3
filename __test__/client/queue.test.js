'use strict';

// Turns that wait for the running one, and a running turn that is redirected.

const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { AcpClient, defaultAgentPath } = require('../..');
const { end, scripted } = require('../support/scripted.js');

/** @type {import('../../types/client').AcpClient} */
let client;

before(async () => {
  client = await AcpClient.launch({ command: process.execPath, args: [defaultAgentPath()], cwd: process.cwd(), env: {} });
});
after(() => client.close());

const SLOW = '[slow] a b c d e f';

test('queued turns run in order, each with its own events', async () => {
  const session = await client.newSession({ queue: true });
  /** @type {string[]} */
  const ends = [];
  const turns = ['one', 'two', 'three'].map((word) => session.prompt(word));
  const texts = await Promise.all(
    turns.map(async (turn, i) => {
      let text = '';
      for await (const event of turn) {
        if (event.type === 'agent_message_chunk' && event.content.type === 'text') text += event.content.text;
      }
      ends.push(String(i));
      assert.equal((await turn).text, text);
      return text;
    }),
  );
  assert.deepEqual(ends, ['0', '1', '2']);
  for (const [i, word] of ['one', 'two', 'three'].entries()) assert.match(texts[i], new RegExp(`: ${word}`));
});

test('a single prompt may wait, or not, whatever the session does', async () => {
  const plain = await client.newSession();
  const first = plain.prompt('a');
  const second = plain.prompt('b', { queue: true });
  await assert.rejects(plain.prompt('c'), { code: 'turn_in_progress' });
  assert.match((await second).text, /: b/);
  await first;
  const queueing = await client.newSession({ queue: true });
  const running = queueing.prompt('a');
  await assert.rejects(queueing.prompt('b', { queue: false }), { code: 'turn_in_progress' });
  await running;
});

test('the queue is bounded', async () => {
  const session = await client.newSession({ queue: true, maxQueuedTurns: 2 });
  const turns = [SLOW, 'b', 'c'].map((text) => session.prompt(text));
  await assert.rejects(session.prompt('d'), (/** @type {any} */ error) => {
    assert.deepEqual([error.code, error.extra], ['turn_in_progress', { queued: 2 }]);
    return true;
  });
  const dropped = Promise.allSettled(turns.slice(1));
  await session.cancel();
  await Promise.all([dropped, turns[0]]);
});

test('a cancel ends the running turn and drops those that wait, typed', async () => {
  const session = await client.newSession({ queue: true });
  const running = session.prompt(SLOW);
  const waiting = ['b', 'c'].map((text) => session.prompt(text));
  const failures = Promise.allSettled(waiting);
  assert.deepEqual(await session.cancel(), { state: 'cancelled' });
  assert.equal((await running).stopReason, 'cancelled');
  for (const failure of await failures) {
    const { status, reason } = /** @type {PromiseRejectedResult} */ (failure);
    assert.deepEqual([status, reason.code, reason.promptMayHaveBeenSent], ['rejected', 'aborted', false]);
  }
  assert.match((await session.prompt('again')).text, /again/);
});

test('cancelling one turn leaves the others alone', async () => {
  const session = await client.newSession({ queue: true });
  const [first, second, third] = [SLOW, 'b', 'c'].map((text) => session.prompt(text));
  const failed = assert.rejects(second, { code: 'aborted' });
  assert.deepEqual(await second.cancel(), { state: 'cancelled' });
  await failed;
  assert.deepEqual(await first.cancel(), { state: 'cancelled' });
  assert.equal((await first).stopReason, 'cancelled');
  assert.match((await third).text, /: c/);
  const running = session.prompt(SLOW);
  // A turn that is over has nothing to cancel.
  assert.deepEqual(await first.cancel(), { state: 'idle' });
  await running.cancel();
  assert.equal((await running).stopReason, 'cancelled');
});

test('a signal takes its own turn out of the queue, with its reason', async () => {
  const session = await client.newSession({ queue: true });
  const running = session.prompt(SLOW);
  const controller = new AbortController();
  const waiting = session.prompt('b', { signal: controller.signal });
  const last = session.prompt('c');
  const reason = new Error('not any more');
  controller.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  await running.cancel();
  assert.match((await last).text, /: c/);
});

test('a turn that fails does not stop those behind it', async () => {
  const failing = await scripted([
    { do: 'initialize' }, { do: 'session_new' },
    { do: 'expect', method: 'session/prompt' }, { do: 'respond', error: { code: -32603, message: 'no' } },
    { do: 'prompt_begin' }, { do: 'text', text: 'fine' }, { do: 'prompt_end' },
  ]);
  const session = await failing.newSession({ queue: true });
  const first = session.prompt('a');
  const second = session.prompt('b');
  await assert.rejects(first, { code: 'agent_error' });
  assert.equal(await second.text(), 'fine');
  await end(failing);
});

test('closing a session, or losing the agent, fails what waits', async () => {
  const session = await client.newSession({ queue: true });
  const running = session.prompt(SLOW);
  const waiting = assert.rejects(session.prompt('b'), { code: 'session_unusable' });
  await session.close();
  await waiting;
  assert.equal((await running).stopReason, 'cancelled');

  const dying = await scripted([{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'exit', code: 3 }]);
  const lost = await dying.newSession({ queue: true });
  const turns = ['a', 'b', 'c'].map((text) => lost.prompt(text));
  for (const outcome of await Promise.allSettled(turns)) {
    assert.equal(/** @type {PromiseRejectedResult} */ (outcome).reason?.code, 'agent_exited');
  }
  await dying.close();
});

test('a redirect takes the place of everything that waits, an earlier redirect included', async () => {
  const session = await client.newSession({ queue: true });
  const running = session.prompt(SLOW);
  const waiting = assert.rejects(session.prompt('b'), { code: 'aborted' });
  const first = assert.rejects(session.interruptWith('too slow'), { code: 'aborted' });
  const second = session.interruptWith('this one');
  const events = [];
  for await (const event of second) events.push(event.type);
  assert.match((await second).text, /this one/);
  assert.ok(events.includes('agent_message_chunk'));
  assert.equal((await running).stopReason, 'cancelled');
  await Promise.all([waiting, first]);
});

test('a redirect of nothing is a prompt, and a prompt meanwhile is refused', async () => {
  const session = await client.newSession();
  assert.match((await session.interruptWith('plain')).text, /plain/);
  const running = session.prompt(SLOW);
  const redirected = session.interruptWith('next');
  await assert.rejects(session.prompt('in between'), { code: 'turn_in_progress' });
  assert.match((await redirected).text, /next/);
  await running;
});

test('a signal that fires before the redirected turn begins takes it back', async () => {
  const session = await client.newSession();
  const running = session.prompt(SLOW);
  const controller = new AbortController();
  const redirected = session.interruptWith('next', { signal: controller.signal });
  controller.abort();
  await assert.rejects(redirected, { name: 'AbortError' });
  assert.equal((await running).stopReason, 'cancelled');
  assert.match((await session.prompt('free again')).text, /free again/);
});

test('silence does not count while the host is asked, however long it takes', async () => {
  const asked = await scripted(
    [
      { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
      { do: 'permission' }, { do: 'expect_response', to: 'permission' },
      { do: 'request', method: '_x/slow', params: { sessionId: 's1' }, as: 'slow' }, { do: 'expect_response', to: 'slow' },
      {
        do: 'request', method: 'elicitation/create', as: 'ask',
        params: { mode: 'form', message: 'm', requestId: '{{prompt.id}}', requestedSchema: { type: 'object', properties: {} } },
      },
      { do: 'expect_response', to: 'ask', result: { action: 'accept' } },
      { do: 'prompt_end' },
    ],
    {
      onPermission: () => later('allow'),
      onExtRequest: () => later({ fine: true }),
      onElicitation: () => later({ action: 'accept' }),
    },
  );
  const session = await asked.newSession();
  assert.equal((await session.prompt('x', { idleTimeoutMs: 400 })).stopReason, 'end_turn');
  await end(asked);

  const silent = await scripted([
    { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'expect', method: 'session/cancel' },
  ]);
  const other = await silent.newSession();
  await assert.rejects(other.prompt('x', { idleTimeoutMs: 400 }), { code: 'turn_stalled' });
  await end(silent);
});

/** @template T @param {T} value @returns {Promise<T>} */
function later(value) {
  return new Promise((resolve) => setTimeout(resolve, 1000, value));
}
