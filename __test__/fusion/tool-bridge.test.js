'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const readline = require('node:readline');
const { afterEach, describe, it, mock } = require('node:test');
const {
  MAX_BODY_BYTES, MAX_CALLS, fusionToolsMcpServerPath, startFusionToolBridge, toolsToMcpToolDefs,
} = require('../../lib/fusion/tool-bridge.js');

/** @type {any[]} */
let open = [];
afterEach(async () => {
  mock.restoreAll();
  await Promise.all(open.map((bridge) => bridge.dispose()));
  open = [];
});

async function start(tools) {
  const bridge = await startFusionToolBridge(tools);
  open.push(bridge);
  const env = Object.fromEntries(bridge.mcpServer.env.map(({ name, value }) => [name, value]));
  const url = env.FUSION_ACP_TOOL_BRIDGE_URL;
  const token = env.FUSION_ACP_TOOL_BRIDGE_TOKEN;
  const post = async (body, { method = 'POST', route = '/tool-call', authorization = `Bearer ${token}` } = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url + route, { method, headers: { authorization }, body: text });
    return { status: response.status, body: await response.json() };
  };
  return { bridge, env, url, token, post };
}

const text = (value, isError = false) => ({ isError, content: [{ type: 'text', text: value }] });

describe('toolsToMcpToolDefs', () => {
  it('lists what can be executed and the agent does not have itself', () => {
    const execute = async () => 'x';
    assert.deepEqual(toolsToMcpToolDefs([
      { name: 'fn_a', description: 'A', parameters: { type: 'object' }, execute }, { name: ' ', execute }, { name: 'bash', execute },
      { name: 'fn_b' }, null, { name: 'fn_c', execute },
    ]), [
      { name: 'fn_a', description: 'A', inputSchema: { type: 'object' } },
      { name: 'fn_c', description: '', inputSchema: { type: 'object', properties: {} } },
    ]);
    assert.deepEqual(toolsToMcpToolDefs(undefined), []);
  });
});

describe('the bridge', () => {
  it('is not started for nothing', async () => {
    assert.equal(await startFusionToolBridge([{ name: 'read', execute: () => {} }]), null);
  });

  it('is a stdio server with a token and a private schema file', async () => {
    const { bridge, token, url } = await start([{ name: 'fn_a', execute: async () => 'ok' }]);
    const { mcpServer } = bridge;
    assert.equal(mcpServer.name, 'fusion-custom-tools');
    assert.equal(mcpServer.command, process.execPath);
    assert.equal(mcpServer.args[0], fusionToolsMcpServerPath());
    assert.match(path.basename(mcpServer.args[1]), new RegExp(`^fusion-acp-mcp-schemas-${process.pid}-[0-9a-f-]+\\.json$`));
    assert.match(token, /^[0-9a-f]{48}$/);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(bridge.toolCount, 1);
    if (process.platform !== 'win32') assert.equal(fs.statSync(mcpServer.args[1]).mode & 0o777, 0o600);
  });

  it('executes, with the caller’s id as text or one of its own', async () => {
    const ids = [];
    const { post } = await start([{ name: 'fn_a', execute: async (id, params) => {
      ids.push(id);
      return params.reply;
    } }]);
    const call = (rest) => post({ name: 'fn_a', arguments: { reply: 'ok' }, ...rest });
    assert.deepEqual(await call({ toolCallId: 'call-42' }), { status: 200, body: text('ok') });
    await call({ toolCallId: 42 });
    await call({ toolCallId: '' });
    await call({});
    assert.deepEqual(ids.slice(0, 2), ['call-42', '42']);
    for (const id of ids.slice(2)) assert.match(id, /^acp-mcp-[0-9a-f-]{36}$/);
  });

  it('makes text of every result', async () => {
    const { post } = await start([{ name: 'fn_a', execute: async (id, params) => params.result }]);
    const cases = [
      [null, ''], ['s', 's'], [{ text: 't' }, 't'], [{ a: 1 }, '{"a":1}'], [[1], '[1]'],
      [{ content: [{ type: 'text', text: 'a' }, { type: 'image', data: 'x' }] }, 'a\n{"type":"image","data":"x"}'],
    ];
    for (const [result, expected] of cases) {
      assert.deepEqual((await post({ name: 'fn_a', arguments: { result } })).body, text(expected));
    }
    assert.deepEqual((await post({ name: 'fn_a', arguments: { result: { text: 'no', isError: true } } })).body, text('no', true));
    assert.deepEqual((await post({ name: 'fn_a', arguments: { result: { text: 'no', isError: 1 } } })).body, text('no'));
  });

  it('reports a tool that throws as the tool’s error', async () => {
    const { post } = await start([{ name: 'fn_a', execute: () => Promise.reject(new Error('broken')) }]);
    assert.deepEqual(await post({ name: 'fn_a' }), { status: 200, body: text('broken', true) });
  });

  it('refuses everything else', async () => {
    let ran = 0;
    const { post } = await start([{ name: 'fn_a', execute: async () => void ran++ }]);
    const refusal = (message) => ({ isError: true, text: message });
    assert.deepEqual(await post({ name: 'fn_a' }, { authorization: 'Bearer wrong' }), { status: 401, body: refusal('unauthorized') });
    assert.deepEqual(await post({ name: 'fn_a' }, { authorization: '' }), { status: 401, body: refusal('unauthorized') });
    assert.deepEqual(await post({ name: 'fn_a' }, { route: '/other' }), { status: 404, body: refusal('not found') });
    assert.deepEqual(await post(undefined, { method: 'GET' }), { status: 404, body: refusal('not found') });
    assert.deepEqual(await post('{'), { status: 400, body: refusal('invalid JSON body') });
    assert.deepEqual(await post({ name: 'fn_no' }), { status: 404, body: refusal('Unknown Fusion tool: fn_no') });
    assert.equal((await post('null')).status, 404);
    assert.equal(ran, 0);
  });

  it('takes no more than a megabyte', async () => {
    const { post } = await start([{ name: 'fn_a', execute: async () => 'x' }]);
    const answer = await post({ name: 'fn_a', arguments: { x: 'y'.repeat(MAX_BODY_BYTES) } }).catch(() => ({ status: 413 }));
    assert.equal(answer.status, 413);
  });

  it('runs no more calls at once than it may, and goes on when one of them ends', async () => {
    /** @type {any[]} */
    const running = [];
    const { post } = await start([{ name: 'fn_a', execute: () => new Promise((resolve) => running.push(resolve)) }]);
    const refusal = { status: 503, body: { isError: true, text: `more than ${MAX_CALLS} tool calls at once` } };
    const until = async (count) => {
      while (running.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const calls = Array.from({ length: MAX_CALLS }, () => post({ name: 'fn_a' }));
    await until(MAX_CALLS);
    assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => post({ name: 'fn_a' }))), new Array(20).fill(refusal));
    assert.equal(running.length, MAX_CALLS);
    running[0]('ok');
    assert.deepEqual(await calls[0], { status: 200, body: text('ok') });
    calls[0] = post({ name: 'fn_a' });
    await until(MAX_CALLS + 1);
    for (const resolve of running) resolve('ok');
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
  });

  it('bounds the caller’s id, and gives one of its own for what is left of none', async () => {
    const ids = [];
    const { post } = await start([{ name: 'fn_a', execute: async (id) => void ids.push(id) }]);
    const odd = ['a\u0000\u001b[31mb\n', 'x'.repeat(500_000), 'x'.repeat(500_001), '\u0001', {}, [], true, null];
    for (const toolCallId of odd) assert.equal((await post({ name: 'fn_a', toolCallId })).status, 200);
    assert.equal(ids[0], 'ab');
    for (const id of ids) assert.match(id, /^[ -~]{1,256}$/);
    for (const id of ids.slice(3)) assert.match(id, /^acp-mcp-[0-9a-f-]{36}$/);
  });

  it('aborts what runs when it is disposed, and what its caller no longer waits for', async () => {
    const signals = [];
    const tool = { name: 'fn_a', execute: (id, params, signal) => new Promise((resolve) => {
      signals.push(signal);
      signal.addEventListener('abort', () => resolve('aborted'));
    }) };
    const { bridge, url, token } = await start([tool]);
    const call = () => {
      const request = http.request(`${url}/tool-call`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
      request.on('error', () => {});
      request.end(JSON.stringify({ name: 'fn_a' }));
      return request;
    };
    const until = async (condition) => {
      while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const gone = call();
    await until(() => signals.length === 1);
    gone.destroy();
    await until(() => signals[0].aborted);
    call();
    await until(() => signals.length === 2);
    await Promise.all([bridge.dispose(), bridge.dispose()]);
    assert.ok(signals[1].aborted);
    assert.ok(!fs.existsSync(bridge.mcpServer.args[1]));
    await assert.rejects(fetch(`${url}/tool-call`));
  });

  it('leaves nothing behind when it cannot listen', async () => {
    mock.method(http.Server.prototype, 'listen', function listen(...args) {
      queueMicrotask(args.at(-1));
      return this;
    });
    mock.method(http.Server.prototype, 'address', () => null);
    const close = mock.method(http.Server.prototype, 'close', function close() {
      return this;
    });
    const removed = mock.method(fs, 'rmSync');
    await assert.rejects(startFusionToolBridge([{ name: 'fn_a', execute: async () => 'x' }]), /failed to bind/);
    assert.equal(close.mock.callCount(), 1);
    assert.ok(!fs.existsSync(removed.mock.calls[0].arguments[0]));
  });
});

describe('the schema server', () => {
  async function server(tools) {
    const { bridge } = await start(tools);
    const { command, args, env } = bridge.mcpServer;
    const child = spawn(command, args, { env: Object.fromEntries(env.map(({ name, value }) => [name, value])), stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (message) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      return JSON.parse((await lines.next()).value);
    };
    return { ask, child, bridge };
  }

  it('initializes, lists, calls, pings, and knows what it does not know', async () => {
    const { ask, child } = await server([{ name: 'fn_a', execute: async (id, params) => `${id}:${params.x}` }]);
    const { result } = await ask({ id: 1, method: 'initialize' });
    assert.deepEqual([result.protocolVersion, result.serverInfo], ['2024-11-05', { name: 'fusion-custom-tools', version: '1.0.0' }]);
    child.stdin.write('not json\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    assert.deepEqual((await ask({ id: 2, method: 'ping' })).result, {});
    assert.deepEqual((await ask({ id: 3, method: 'tools/list' })).result.tools.map(({ name }) => name), ['fn_a']);
    assert.deepEqual((await ask({ id: 4, method: 'tools/call', params: { name: 'fn_a', arguments: { x: 1 } } })).result, text('4:1'));
    const unknown = await ask({ id: 5, method: 'tools/call', params: { name: 'nope' } });
    assert.match(unknown.result.content[0].text, /^tool bridge responded 404: /);
    assert.deepEqual((await ask({ id: 6, method: 'no/such' })).error, { code: -32601, message: 'Method not found: no/such' });
    child.stdin.end();
  });

  it('does not start without its schema', async () => {
    const child = spawn(process.execPath, [fusionToolsMcpServerPath()], { env: {}, stdio: 'ignore' });
    assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 1);
  });
});
