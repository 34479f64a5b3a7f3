'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { withAgent } = require('./raw-client');

const chunk = ({ params }) => params?.update?.sessionUpdate === 'agent_message_chunk';

for (const word of ['hang', 'slow', 'flood:1000000', 'permission']) {
  test(`a turn in [${word}] ends with cancelled`, withAgent(async (client) => {
    const sessionId = await client.session();
    const turn = client.prompt(sessionId, `[plain] [${word}]`);
    await client.until(word === 'permission' ? ({ method }) => method === 'session/request_permission' : chunk);
    client.notify('session/cancel', { sessionId });
    const { result } = await turn;
    assert.equal(result.stopReason, 'cancelled');
    assert.ok(result.usage);
    assert.equal((await client.prompt(sessionId, 'and on')).result.stopReason, 'end_turn');
  }));
}

test('cancelling the request itself does the same', withAgent(async (client) => {
  const sessionId = await client.session();
  const turn = client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: '[hang]' }] }, 'mine');
  await client.until(chunk);
  client.notify('$/cancel_request', { requestId: 'other' });
  client.notify('$/cancel_request', { requestId: 'mine' });
  assert.equal((await turn).result.stopReason, 'cancelled');
}));

test('closing or deleting a session cancels its turn', withAgent(async (client) => {
  const sessionId = await client.session();
  for (const method of ['session/close', 'session/delete']) {
    const turn = client.prompt(sessionId, '[hang]');
    await client.until(chunk);
    await client.request(method, { sessionId });
    assert.equal((await turn).result.stopReason, 'cancelled');
    client.messages.length = 0;
    await client.request('session/resume', { sessionId, cwd: process.cwd() });
  }
}));

test('cancelling nothing does nothing', withAgent(async (client) => {
  const sessionId = await client.session();
  client.notify('session/cancel', { sessionId });
  client.notify('session/cancel', { sessionId: 'none' });
  client.notify('session/cancel');
  assert.equal((await client.prompt(sessionId, 'hello')).result.stopReason, 'end_turn');
}));
