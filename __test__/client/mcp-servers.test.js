'use strict';

// MCP servers that the host serves itself: functions that answer over the agent's connection.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, initialize, scripted } = require('../support/scripted.js');

/** @typedef {import('../../types/unstable').HostMcpServer} HostMcpServer */

const ABLE = { mcpCapabilities: { acp: true }, sessionCapabilities: { close: {} } };
const DONE = answered('_test/done');
const OPENING = { do: 'expect', method: 'session/new', params: { mcpServers: [{ type: 'acp', name: 'tools' }] }, as: 'open' };
const SERVER = '{{open.params.mcpServers.0.serverId}}';

/** @param {string} id @param {string} method @param {any} [params] @param {string} [serverId] */
function ask(id, method, params, serverId = SERVER) {
  return { do: 'request', id, method: 'mcp/message', params: { serverId, requestId: id, method, ...(params && { params }) } };
}

/** @param {string} id @param {any} result */
function gets(id, result) {
  return { do: 'expect_response', to: id, result: { $exact: result } };
}

/** @param {HostMcpServer['handle']} handle @returns {HostMcpServer} */
function tools(handle) {
  return { type: 'acp', name: 'tools', handle };
}

test('a server answers while its session opens and in its turns, with results and errors of its own', async () => {
  const client = await scripted(
    [
      initialize(ABLE), OPENING,
      ask('list', 'tools/list'), gets('list', { result: { tools: [] } }),
      { do: 'respond', to: 'open', result: { sessionId: 's1' } },
      { do: 'prompt_begin', sessionId: 's1' },
      ask('call', 'tools/call', { name: 'x', deep: [null, 'é'] }),
      { do: 'expect', method: 'mcp/message', params: { requestId: 'call', method: 'notifications/progress', params: { $exact: { progress: 1 } } } },
      { do: 'expect', method: 'mcp/message', params: { requestId: 'call', method: 'bare', params: { $absent: true } } },
      gets('call', { result: { echoed: { name: 'x', deep: [null, 'é'] } } }),
      ask('null', 'null'), gets('null', { result: null }),
      ask('unknown', 'resources/list'), { do: 'expect_response', to: 'unknown', result: { error: { code: -32601 } } },
      ask('own', 'fails'), gets('own', { error: { code: 42, message: 'no luck', data: { why: 1 } } }),
      ask('throws', 'throws'), gets('throws', { error: { code: -32603, message: 'a fault of the host' } }),
      ask('circle', 'circle'), { do: 'expect_response', to: 'circle', result: { error: { code: -32603 } } },
      { do: 'prompt_end' }, ...DONE,
    ],
    { unstable: true },
  );
  const server = tools(async ({ method, params, signal, notify }) => {
    assert.equal(signal.aborted, false);
    if (method === 'tools/list') return { tools: [] };
    if (method === 'null') return null;
    if (method === 'fails') throw Object.assign(new Error('no luck'), { code: 42, data: { why: 1 } });
    if (method === 'throws') throw new TypeError('a fault of the host');
    if (method === 'circle') {
      /** @type {any} */
      const circle = {};
      circle.self = circle;
      return circle;
    }
    if (method !== 'tools/call') return undefined;
    notify('notifications/progress', { progress: 1 });
    notify('bare');
    assert.throws(() => notify(/** @type {any} */ (5)), { code: 'invalid_argument' });
    assert.throws(() => notify('x', /** @type {any} */ ([1])), { code: 'invalid_argument' });
    // It is answered by then: nothing of it may follow.
    setTimeout(() => notify('late'), 20);
    return { echoed: params };
  });
  const session = await client.newSession({ mcpServers: [server] });
  await session.prompt('x');
  await new Promise((resolve) => setTimeout(resolve, 40));
  await client.request('_test/done');
  await end(client);
});

test('a server ends with its session: what is open is taken back, and nothing reaches it any more', async () => {
  const asked = gate();
  /** @type {string[]} */
  const methods = [];
  const client = await scripted(
    [
      initialize(ABLE), OPENING, { do: 'respond', to: 'open', result: { sessionId: 's1' } },
      ask('held', 'never'), ...answered('session/close'),
      { do: 'expect_response', to: 'held', error: { code: -32800 } },
      ask('late', 'ping'), { do: 'expect_response', to: 'late', error: { code: -32002 } }, ...DONE,
    ],
    { unstable: true },
  );
  const taken = gate();
  const server = tools(({ method, signal }) => {
    methods.push(method);
    signal.addEventListener('abort', taken.open);
    asked.open();
    return new Promise(() => {});
  });
  const session = await client.newSession({ mcpServers: [server] });
  await asked.opened;
  await session.close();
  await taken.opened;
  await client.request('_test/done');
  assert.deepEqual(methods, ['never']);
  await end(client);
});

test('one object can serve many sessions, each under an id of its own, and a failed opening leaves nothing of it', async () => {
  const second = { ...OPENING, as: 'second' };
  const failed = { ...OPENING, as: 'failed' };
  const client = await scripted(
    [
      initialize(ABLE), failed, { do: 'respond', to: 'failed', error: { code: -32603, message: 'no' } },
      OPENING, { do: 'respond', to: 'open', result: { sessionId: 's1' } },
      second, { do: 'respond', to: 'second', result: { sessionId: 's2' } },
      { do: 'check', value: '{{second.params.mcpServers.0.serverId}}', matches: { $not: SERVER } },
      ask('1', 'ping'), gets('1', { result: {} }),
      ask('2', 'ping', undefined, '{{second.params.mcpServers.0.serverId}}'), gets('2', { result: {} }),
      ask('3', 'ping', undefined, '{{failed.params.mcpServers.0.serverId}}'), { do: 'expect_response', to: '3', error: { code: -32002 } },
      ...DONE,
    ],
    { unstable: true },
  );
  const server = tools(() => ({}));
  await assert.rejects(client.newSession({ mcpServers: [server] }), { code: 'agent_error' });
  await client.newSession({ mcpServers: [server] });
  await client.newSession({ mcpServers: [server] });
  await client.request('_test/done');
  await end(client);
});

test('a server is given only to agents that take one, and only with the switch', async () => {
  const server = tools(() => ({}));
  for (const [capabilities, unstable, extra] of /** @type {Array<[any, boolean, object]>} */ ([
    [ABLE, false, { option: 'unstable' }], [{}, true, { capability: 'mcpCapabilities.acp' }],
  ])) {
    const client = await scripted([initialize(capabilities), ...DONE], { unstable });
    await assert.rejects(client.newSession({ mcpServers: [server] }), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.extra], ['unsupported_capability', extra]);
      return true;
    });
    for (const wrong of [{ type: 'acp', name: 'x' }, { type: 'acp', name: 'x', handle: 5 }, { type: 'acp', handle: () => ({}) }]) {
      await assert.rejects(client.newSession({ mcpServers: [/** @type {any} */ (wrong)] }), { code: 'invalid_argument' });
    }
    await assert.rejects(client.newSession({ mcpServers: /** @type {any} */ ({}) }), { code: 'invalid_argument' });
    await client.request('_test/done');
    await end(client);
  }
});
