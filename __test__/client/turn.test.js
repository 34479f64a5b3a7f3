'use strict';

// A turn from the host's side: events in order, the result after them, cancel, redirect, and a slow consumer.

const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { AcpClient, AcpError, defaultAgentPath } = require('../..');
const { flood } = require('../support/fake-agent.js');

/** @type {import('../../types/client').AcpClient} */
let client;

before(async () => {
  client = await AcpClient.launch({
    command: process.execPath, args: [defaultAgentPath()], cwd: process.cwd(), env: {}, onPermission: () => 'allow',
  });
});
after(() => client.close());

test('events come in order and their text is the result', async () => {
  const session = await client.newSession();
  const turn = session.prompt('one two [tool] [plan]');
  const types = [];
  let text = '';
  for await (const event of turn) {
    types.push(event.type);
    assert.equal(event.sessionId, session.id);
    if (event.type === 'agent_message_chunk' && event.content.type === 'text') text += event.content.text;
  }
  const result = await turn;
  assert.equal(result.text, text);
  assert.equal(result.stopReason, 'end_turn');
  assert.ok(types.indexOf('tool_call') < types.indexOf('tool_call_update'));
  assert.ok(types.includes('plan') && types.includes('agent_message_chunk'));
  assert.ok((result.usage?.totalTokens ?? 0) > 0);
});

test('a turn is a promise, a text and a web stream', async () => {
  const session = await client.newSession();
  assert.match(await session.prompt('hi').text(), /You wrote 1 word: hi/);
  const types = [];
  for await (const event of session.prompt('hi').toReadableStream()) types.push(event.type);
  assert.ok(types.includes('agent_message_chunk'));
});

test('one turn at a time, and a cancel ends it', async () => {
  const session = await client.newSession();
  const running = session.prompt('[slow] a b c d e f');
  await assert.rejects(session.prompt('too soon'), { code: 'turn_in_progress' });
  assert.deepEqual(await session.cancel(), { state: 'cancelled' });
  const result = await running;
  assert.deepEqual([result.stopReason, result.cancelRequested, result.forced], ['cancelled', true, false]);
  assert.deepEqual(await session.cancel(), { state: 'idle' });
});

test('a running turn is redirected', async () => {
  const session = await client.newSession();
  const first = session.prompt('[slow] a b c d e f');
  const second = await session.interruptWith('never mind');
  assert.equal((await first).stopReason, 'cancelled');
  assert.match(second.text, /never mind/);
});

test('an abort signal cancels its turn', async () => {
  const session = await client.newSession();
  const controller = new AbortController();
  const turn = session.prompt('[slow] a b c', { signal: controller.signal });
  controller.abort();
  assert.equal((await turn).stopReason, 'cancelled');
  await assert.rejects(session.prompt('x', { signal: controller.signal }), { name: 'AbortError' });
});

test('a call that the agent did not advertise never reaches the wire', async () => {
  await assert.rejects(client.request('providers/list', {}), (error) => {
    assert.ok(error instanceof AcpError);
    assert.equal(/** @type {any} */ (error).code, 'unsupported_capability');
    return true;
  });
});

test('a consumer that is slow gets everything, in order', async () => {
  const count = 20_000;
  const { command, args } = flood({ kind: 'text', count });
  const flooding = await AcpClient.launch({ command, args, cwd: process.cwd(), env: {} });
  try {
    const session = await flooding.newSession();
    let seen = 0;
    let text = '';
    for await (const event of session.prompt('go')) {
      if (event.type !== 'agent_message_chunk' || event.content.type !== 'text') continue;
      text += event.content.text;
      if (++seen % 2_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(seen, count);
    assert.equal(text.length, (await session.prompt('go').text()).length);
  } finally {
    await flooding.close();
  }
});
