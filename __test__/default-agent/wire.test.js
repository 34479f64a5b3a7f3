'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { withAgent } = require('./raw-client');

test('answers an unknown method with an error and an unknown notification with nothing', withAgent(async (client) => {
  await client.initialize();
  client.notify('none/such');
  client.notify('$/none');
  client.notify('_ext/none');
  for (const method of ['none/such', '_ext/none', 'toString', '__proto__']) {
    assert.equal((await client.request(method, {})).error.code, -32601, method);
  }
  assert.equal(client.messages.length, 5);
}));

test('echoes ids as they are', withAgent(async (client) => {
  for (const id of [0, -1, '1', 'x', '', 9007199254740991]) {
    const { id: echoed } = await client.request('initialize', { protocolVersion: 1 }, id);
    assert.equal(echoed, id);
  }
}));

test('answers broken lines and goes on', withAgent(async (client) => {
  client.send('\n   \n');
  const broken = [
    ['{"jsonrpc"', -32700],
    ['[]', -32600],
    ['7', -32600],
    ['null', -32600],
    ['{}', -32600],
    ['{"id":{},"method":"initialize"}', -32600],
  ];
  for (const [line] of broken) client.send(`${line}\n`);
  await client.initialize();
  assert.deepEqual(client.messages.slice(0, -1).map(({ error }) => error.code), broken.map(([, code]) => code));
}));

test('reads messages cut anywhere, inside characters too', withAgent(async (client) => {
  const sessionId = await client.session();
  const prompt = [{ type: 'text', text: '[plain] grüße 👍 ende' }];
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 'cut', method: 'session/prompt', params: { sessionId, prompt } })}\n`);
  const answer = client.until(({ id, result }) => id === 'cut' && result);
  for (const byte of line) {
    client.child.stdin.write(Buffer.from([byte]));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await answer;
  assert.match(client.text(), /: grüße 👍 ende$/);
}));

test('takes a stray answer for nothing', withAgent(async (client) => {
  client.send({ jsonrpc: '2.0', id: 77, result: {} });
  client.send({ jsonrpc: '2.0', id: 'x', error: { code: 1, message: 'no' } });
  await client.initialize();
  assert.equal(client.messages.length, 1);
}));

test('ends by itself when its input ends', withAgent(async (client) => {
  await client.session();
  assert.deepEqual(await client.end(), { code: 0, signal: null });
  assert.equal(client.stderr, '');
}));

for (const word of ['hang', 'slow:10000', 'permission', 'flood:1000000']) {
  test(`ends by itself in the middle of [${word}]`, withAgent(async (client) => {
    const sessionId = await client.session();
    void client.prompt(sessionId, `[plain] [${word}]`);
    await client.until(({ params }) => params?.update?.sessionUpdate?.startsWith('a') || params?.options || params?.update);
    assert.deepEqual(await client.end(), { code: 0, signal: null });
    assert.equal(client.stderr, '');
  }));
}

test('ends when nobody reads it any more', withAgent(async (client) => {
  const sessionId = await client.session();
  void client.prompt(sessionId, '[plain] [flood:1000000]');
  await client.until(({ params }) => params?.update?.sessionUpdate === 'agent_message_chunk');
  client.child.stdout.destroy();
  assert.equal((await client.exited).code, 0);
}));
