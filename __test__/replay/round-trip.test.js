'use strict';

// What is recorded can be played again, and comes out the same.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { activeProcessCount, defaultAgentPath } = require('../..');
const { script, turn } = require('../support/fake-agent.js');
const { played, record } = require('./support');

const demo = { command: process.execPath, args: [defaultAgentPath()] };

/** @param {import('node:test').TestContext} t @param {string} text */
async function same(t, text) {
  const outcome = await played(t, text);
  assert.deepEqual([outcome.divergence, outcome.unexpected, outcome.ok], [undefined, [], true], text);
  assert.equal(activeProcessCount(), 0);
  return outcome;
}

test('turns of every kind', async (t) => {
  const said = /** @type {string[]} */ ([]);
  const text = await record({ ...demo, onPermission: () => 'allow' }, async (client) => {
    const session = await client.newSession();
    for (const prompt of ['hello', '[permission]', '[flood:300]', '[refuse]', '[max_tokens]', '[json]']) {
      said.push(await session.prompt(prompt).text());
    }
    await assert.rejects(session.prompt('[fail]'));
  });
  const { turns, agent, messages } = await same(t, text);
  assert.deepEqual(turns.map(({ text: answer }) => answer).slice(0, 6), said);
  const ends = ['end_turn', 'end_turn', 'end_turn', 'refusal', 'max_tokens', 'end_turn', undefined];
  assert.deepEqual(turns.map(({ stopReason }) => stopReason), ends);
  assert.equal(turns[6].error, -32603);
  assert.equal(agent, 'fusion-acp-default-agent');
  assert.equal(messages.in + messages.out, text.trimEnd().split('\n').length - 1);
});

test('cancelled turns, with a question open and without', async (t) => {
  const text = await record({ ...demo, onPermission: () => new Promise(() => {}) }, async (client) => {
    const session = await client.newSession();
    for (const prompt of ['[slow:50]', '[permission]', '[hang]']) {
      const running = session.prompt(prompt);
      for await (const event of running) {
        if (event.type === 'tool_call' || event.type === 'agent_message_chunk') void running.cancel();
      }
      assert.equal((await running).stopReason, 'cancelled');
    }
  });
  const { turns } = await same(t, text);
  assert.deepEqual(turns.map(({ stopReason }) => stopReason), ['cancelled', 'cancelled', 'cancelled']);
});

test('what the client served is neither read, written nor run again', async (t) => {
  const launch = { ...demo, onPermission: () => 'allow', fs: { read: true, write: true }, terminal: true };
  const text = await record(/** @type {any} */ (launch), async (client) => {
    const session = await client.newSession();
    for (const prompt of ['[read:package.json]', '[terminal:echo hi]']) await session.prompt(prompt);
  });
  const methods = ['fs/read_text_file', 'terminal/create', 'terminal/wait_for_exit', 'terminal/output', 'terminal/release'];
  for (const method of methods) assert.ok(text.includes(`"${method}"`), method);
  const { turns, diagnostics } = await same(t, text);
  assert.equal(turns.length, 2);
  assert.ok(diagnostics.refusedRequests >= methods.length);
});

test('forms', async (t) => {
  const launch = { ...demo, onElicitation: () => ({ action: 'accept', content: { name: 'Ada' } }) };
  const text = await record(/** @type {any} */ (launch), async (client) => {
    const session = await client.newSession();
    assert.match(await session.prompt('[ask]').text(), /Ada/);
  });
  const { turns } = await same(t, text);
  assert.match(turns[0].text, /Ada/);
});

test('sessions that are listed, loaded, resumed, forked, set up, closed and deleted', async (t) => {
  const text = await record(demo, async (client) => {
    const first = await client.newSession();
    await first.prompt('one');
    await first.setMode('outline');
    await first.setModel('demo-upper');
    const fork = await client.forkSession(first.id);
    await Promise.all([first.prompt('two'), fork.prompt('three')]);
    for await (const { sessionId } of client.listSessions()) assert.ok(sessionId);
    await first.close();
    const loaded = await client.loadSession(first.id);
    await loaded.prompt('four');
    await loaded.close();
    await fork.close();
    const resumed = await client.resumeSession(fork.id);
    await resumed.prompt('five');
    await client.deleteSession(fork.id);
  });
  const { turns } = await same(t, text);
  assert.equal(turns.length, 5);
});

test('noise, odd values and a line of the client that is taken back', async (t) => {
  const steps = turn([
    { do: 'raw', text: 'starting…\n', literal: true },
    { do: 'update', update: { sessionUpdate: 'x_future', deep: [1] } },
    { do: 'text', text: 'fine' },
    { do: 'request', id: 'q', method: '_vendor/ask', params: { n: 1 } },
    { do: 'expect_response', to: 'q' },
    { do: 'request', id: 7, method: '_vendor/unknown', params: {} },
    { do: 'expect_response', to: 7 },
  ]);
  const late = [...steps, { do: 'expect', method: '_vendor/slow' }, { do: 'expect', method: '$/cancel_request' },
    { do: 'respond', to: '_vendor/slow', error: { code: -32800, message: 'cancelled' } }, { do: 'expect', method: '_vendor/bye' }];
  const onExtRequest = (/** @type {string} */ method) => (method === '_vendor/ask' ? { fine: true } : undefined);
  const text = await record({ ...script(late), onExtRequest }, async (client) => {
    const session = await client.newSession();
    await session.prompt('go');
    const controller = new AbortController();
    const slow = client.request('_vendor/slow', {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(slow);
    client.notify('_vendor/bye', {});
  });
  const { turns, diagnostics } = await same(t, text);
  assert.deepEqual([turns[0].text, turns[0].events.x_future], ['fine', 1]);
  // The answer to a call that was given up is late, here as there.
  assert.deepEqual([diagnostics.noiseLines, diagnostics.lateResponses], [1, 1]);
});
