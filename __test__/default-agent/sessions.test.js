'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');

const { withAgent } = require('./raw-client');

const cwd = process.cwd();

test('refuses a session without an absolute cwd or a list of MCP servers', withAgent(async (client) => {
  await client.initialize();
  const bad = [
    {},
    { cwd },
    { cwd, mcpServers: {} },
    { cwd: 'relative', mcpServers: [] },
    { cwd: '', mcpServers: [] },
    { cwd, mcpServers: [], additionalDirectories: ['relative'] },
    { cwd, mcpServers: [], systemPrompt: { mode: 'override', content: [{ type: 'text', text: 'x' }] } },
    { cwd, mcpServers: [], systemPrompt: { mode: 'append', content: [] } },
    { cwd, mcpServers: [], systemPrompt: { mode: 'append', content: [{ type: 'image' }] } },
  ];
  for (const params of bad) {
    assert.equal((await client.request('session/new', params)).error?.code, -32602, JSON.stringify(params));
  }
}));

test('announces its commands after the session is known', withAgent(async (client) => {
  const sessionId = await client.session();
  const announced = await client.until(({ params }) => params?.update?.sessionUpdate === 'available_commands_update');
  assert.equal(announced.params.sessionId, sessionId);
  const opened = client.messages.findIndex(({ result }) => result?.sessionId === sessionId);
  assert.ok(client.messages.indexOf(announced) > opened);
}));

test('tells the whole conversation again when a session is loaded, before the answer', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, 'hello there');
  const kept = client.updates().filter(({ sessionUpdate }) => !/^(usage|available)/.test(sessionUpdate));
  await client.request('session/close', { sessionId });
  const before = client.messages.length;
  const { result, id } = await client.request('session/load', { sessionId, cwd, mcpServers: [] });
  assert.equal(result.modes.currentModeId, 'answer');
  const until = client.messages.findIndex((message) => message.id === id && message.result);
  const replayed = client.messages.slice(before, until).map(({ params }) => params.update);
  assert.deepEqual(replayed, [
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'hello there' } },
    ...kept,
  ]);
}));

test('resumes without telling the conversation again', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, 'hello there');
  const before = client.updates('agent_message_chunk').length;
  assert.ok((await client.request('session/resume', { sessionId, cwd })).result.configOptions);
  assert.equal(client.updates('agent_message_chunk').length, before);
  assert.equal((await client.prompt(sessionId, 'again')).result.stopReason, 'end_turn');
}));

test('a fork has the history of its origin and lives on its own', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, 'hello there');
  const fork = (await client.request('session/fork', { sessionId, cwd, mcpServers: [] })).result.sessionId;
  assert.notEqual(fork, sessionId);
  await client.request('session/delete', { sessionId });
  assert.equal((await client.prompt(fork, 'more')).result.stopReason, 'end_turn');
}));

test('a closed session takes no prompt, an unknown one is not found, deleting is idempotent', withAgent(async (client) => {
  const sessionId = await client.session();
  assert.deepEqual((await client.request('session/close', { sessionId })).result, {});
  for (const id of [sessionId, 'none', 7, null]) {
    const { error } = await client.prompt(/** @type {any} */ (id), 'hello');
    assert.equal(error.code, -32002);
    assert.deepEqual(error.data, { sessionId: id });
  }
  assert.deepEqual((await client.request('session/delete', { sessionId })).result, {});
  assert.deepEqual((await client.request('session/delete', { sessionId })).result, {});
  assert.equal((await client.request('session/load', { sessionId, cwd, mcpServers: [] })).error.code, -32002);
}));

test('lists sessions page by page, and by folder', withAgent(async (client) => {
  await client.initialize();
  const other = path.dirname(cwd);
  for (let count = 0; count < 60; count++) {
    await client.request('session/new', { cwd: count === 0 ? other : cwd, mcpServers: [] });
  }
  const first = (await client.request('session/list', {})).result;
  const second = (await client.request('session/list', { cursor: first.nextCursor })).result;
  const ids = [...first.sessions, ...second.sessions].map((/** @type {any} */ session) => session.sessionId);
  assert.equal(second.nextCursor, undefined);
  assert.equal(ids.length, 60);
  assert.equal(new Set(ids).size, 60);
  const there = (await client.request('session/list', { cwd: other })).result.sessions;
  assert.deepEqual(there, [{ sessionId: 'demo-1', cwd: other, additionalDirectories: [] }]);
  assert.equal((await client.request('session/list', { cursor: 'made up' })).error.code, -32602);
}));

test('changes its mode, and says so', withAgent(async (client) => {
  const sessionId = await client.session();
  assert.deepEqual((await client.request('session/set_mode', { sessionId, modeId: 'outline' })).result, {});
  assert.deepEqual(client.updates('current_mode_update'), [
    { sessionUpdate: 'current_mode_update', currentModeId: 'outline' },
  ]);
  await client.prompt(sessionId, 'hello');
  assert.equal(client.updates('tool_call').length, 0);
  assert.ok(client.updates('plan').length > 0);
  assert.equal((await client.request('session/set_mode', { sessionId, modeId: 'none' })).error.code, -32602);
}));

test('changes its options; a switch only for a client that knows one', withAgent(async (client) => {
  const sessionId = await client.session({ session: { configOptions: { boolean: {} } } });
  const set = (/** @type {object} */ params) => client.request('session/set_config_option', { sessionId, ...params });
  const upper = (await set({ configId: 'model', value: 'demo-upper' })).result.configOptions;
  assert.deepEqual(upper.map((/** @type {any} */ { id, currentValue }) => [id, currentValue]), [
    ['model', 'demo-upper'],
    ['thoughts', true],
  ]);
  await set({ configId: 'thoughts', type: 'boolean', value: false });
  await client.prompt(sessionId, 'quiet please');
  assert.equal(client.updates('agent_thought_chunk').length, 0);
  assert.match(client.text(), /: QUIET PLEASE/);
  for (const params of [{ configId: 'none', value: 'x' }, { configId: 'model', value: 'x' }, { configId: 'thoughts', value: 'no' }]) {
    assert.equal((await set(params)).error.code, -32602);
  }
}));

test('hides the switch from other clients', withAgent(async (client) => {
  const sessionId = await client.session();
  const { error } = await client.request('session/set_config_option', { sessionId, configId: 'thoughts', value: true });
  assert.equal(error.code, -32602);
}));
