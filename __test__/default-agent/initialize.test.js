'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { version } = require('../../package.json');
const { withAgent } = require('./raw-client');

for (const asked of [1, 2, 99]) {
  test(`answers version 1 when asked for ${asked}`, withAgent(async (client) => {
    const { result } = await client.request('initialize', { protocolVersion: asked });
    assert.equal(result.protocolVersion, 1);
  }));
}

test('says honestly who it is', withAgent(async (client) => {
  const { agentInfo, authMethods } = await client.initialize();
  assert.deepEqual(agentInfo, { name: 'fusion-acp-default-agent', title: 'Built-in demo agent', version });
  assert.deepEqual(authMethods, []);
}));

test('refuses a version that is not an integer', withAgent(async (client) => {
  for (const protocolVersion of [undefined, '1', 1.5, null]) {
    assert.equal((await client.request('initialize', { protocolVersion })).error.code, -32602);
  }
}));

test('refuses everything before initialize', withAgent(async (client) => {
  const { error } = await client.request('session/new', { cwd: process.cwd(), mcpServers: [] });
  assert.equal(error.code, -32600);
}));

test('implements every method whose capability it advertises', withAgent(async (client) => {
  const { agentCapabilities } = await client.initialize();
  const methods = [
    ...Object.keys(agentCapabilities.sessionCapabilities)
      .filter((name) => !['additionalDirectories', 'systemPrompt'].includes(name))
      .map((name) => `session/${name}`),
    ...(agentCapabilities.loadSession ? ['session/load'] : []),
  ];
  assert.ok(methods.length >= 6);
  for (const method of methods) {
    const { error } = await client.request(method, { sessionId: 'none', cwd: process.cwd(), mcpServers: [] });
    assert.notEqual(error?.code, -32601, method);
  }
}));

test('needs no login unless told so', withAgent(async (client) => {
  await client.session();
  assert.equal((await client.request('authenticate', { methodId: 'demo-login' })).error.code, -32602);
  assert.equal((await client.request('logout', {})).error.code, -32601);
}));

test('with --require-auth, sessions need a login and end with a logout', withAgent(async (client) => {
  const { authMethods, agentCapabilities } = await client.initialize();
  assert.deepEqual(authMethods.map((/** @type {any} */ method) => method.id), ['demo-login']);
  assert.deepEqual(agentCapabilities.auth, { logout: {} });
  const open = () => client.request('session/new', { cwd: process.cwd(), mcpServers: [] });
  assert.equal((await open()).error.code, -32000);
  assert.equal((await client.request('authenticate', { methodId: 'other' })).error.code, -32602);
  assert.equal((await open()).error.code, -32000);
  assert.deepEqual((await client.request('authenticate', { methodId: 'demo-login' })).result, {});
  assert.equal((await open()).result.sessionId, 'demo-1');
  assert.deepEqual((await client.request('logout', {})).result, {});
  assert.equal((await client.prompt('demo-1', 'hello')).error.code, -32000);
}, ['--require-auth']));
