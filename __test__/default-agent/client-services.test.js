'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');

const { withAgent } = require('./raw-client');

const selected = (/** @type {string} */ optionId) => () => ({ outcome: { outcome: 'selected', optionId } });
const lastStatus = (/** @type {import('./raw-client').RawClient} */ client) =>
  client.updates('tool_call_update').at(-1).status;

for (const [optionId, status] of [['allow', 'completed'], ['allow-always', 'completed'], ['reject', 'failed'], ['reject-always', 'failed']]) {
  test(`a permission answered with ${optionId} leaves the call ${status}`, withAgent(async (client) => {
    const sessionId = await client.session();
    let asked = 0;
    client.handlers['session/request_permission'] = (params) => {
      asked++;
      assert.equal(params.sessionId, sessionId);
      assert.deepEqual(params.options.map((/** @type {any} */ option) => option.kind), [
        'allow_once', 'allow_always', 'reject_once', 'reject_always',
      ]);
      return selected(optionId)();
    };
    await client.prompt(sessionId, '[plain] [permission]');
    assert.equal(lastStatus(client), status);
    await client.prompt(sessionId, '[plain] [permission]');
    assert.equal(asked, optionId.endsWith('always') ? 1 : 2);
  }));
}

test('a permission answered with cancelled, nonsense or an error is not given', withAgent(async (client) => {
  const sessionId = await client.session({ fs: { writeTextFile: true } });
  client.handlers['fs/write_text_file'] = () => assert.fail('nothing may be written');
  const answers = [{ outcome: { outcome: 'cancelled' } }, {}, { outcome: { outcome: 'selected', optionId: 'other' } }];
  for (const answer of answers) {
    client.handlers['session/request_permission'] = () => answer;
    await client.prompt(sessionId, '[plain] [write:x.txt]');
    assert.equal(lastStatus(client), 'failed');
  }
}));

test('reads a file through the client', withAgent(async (client) => {
  const sessionId = await client.session({ fs: { readTextFile: true } });
  client.handlers['fs/read_text_file'] = (params) => {
    assert.equal(params.path, path.resolve('notes.txt'));
    return { content: 'four' };
  };
  await client.prompt(sessionId, '[plain] [read:notes.txt]');
  assert.match(client.text(), /The file has 4 characters/);
  client.handlers['fs/read_text_file'] = () => ({ error: { code: -32002, message: 'not there' } });
  assert.equal((await client.prompt(sessionId, '[plain] [read:notes.txt]')).result.stopReason, 'end_turn');
  assert.match(client.text(), /the error -32002: not there/);
  assert.equal(lastStatus(client), 'failed');
}));

test('writes a file through the client once it may', withAgent(async (client) => {
  const sessionId = await client.session({ fs: { writeTextFile: true } });
  client.handlers['session/request_permission'] = selected('allow');
  /** @type {any} */
  let written;
  client.handlers['fs/write_text_file'] = (params) => {
    written = params;
    return {};
  };
  await client.prompt(sessionId, '[plain] [write:out.txt]');
  assert.equal(written.path, path.resolve('out.txt'));
  const [diff] = client.updates('tool_call_update').at(-1).content;
  assert.deepEqual(diff, { type: 'diff', path: written.path, oldText: null, newText: written.content });
}));

test('runs a command in a terminal of the client and releases it', withAgent(async (client) => {
  const sessionId = await client.session({ terminal: true });
  client.handlers['session/request_permission'] = selected('allow');
  client.handlers['terminal/create'] = ({ command, args }) => {
    assert.deepEqual([command, ...args], ['echo', 'hi', 'there']);
    return { terminalId: 't1' };
  };
  client.handlers['terminal/wait_for_exit'] = () => ({ exitCode: 0 });
  client.handlers['terminal/output'] = () => ({ output: 'hi there\n', truncated: false });
  client.handlers['terminal/release'] = () => ({});
  await client.prompt(sessionId, '[plain] [terminal:echo hi there]');
  assert.match(client.text(), /ended with 0 and printed: hi there/);
  assert.ok(client.messages.some(({ method }) => method === 'terminal/release'));
}));

test('releases the terminal of a cancelled turn', withAgent(async (client) => {
  const sessionId = await client.session({ terminal: true });
  client.handlers['session/request_permission'] = selected('allow');
  client.handlers['terminal/create'] = () => ({ terminalId: 't1' });
  const turn = client.prompt(sessionId, '[plain] [terminal]');
  await client.until(({ method }) => method === 'terminal/wait_for_exit');
  client.notify('session/cancel', { sessionId });
  assert.equal((await turn).result.stopReason, 'cancelled');
  const released = await client.until(({ method }) => method === 'terminal/release');
  assert.equal(released.params.terminalId, 't1');
}));

test('asks with a form', withAgent(async (client) => {
  const sessionId = await client.session({ elicitation: { form: {} } });
  client.handlers['elicitation/create'] = () => ({ action: 'accept', content: { name: 'Ada' } });
  await client.prompt(sessionId, '[plain] [ask]');
  assert.match(client.text(), /came back with Ada/);
  client.handlers['elicitation/create'] = () => ({ action: 'decline' });
  await client.prompt(sessionId, '[plain] [ask]');
  assert.match(client.text(), /came back: decline/);
}));

test('asks nothing of a client that offers nothing', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, '[plain] [read:a] [write:b] [terminal] [ask]');
  assert.equal(client.messages.filter(({ id, method }) => id !== undefined && method !== undefined).length, 0);
  assert.equal(client.text().match(/The client offers no/g)?.length, 4);
}));
