'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const {
  DEFAULT_INITIALIZE_TIMEOUT_MS, activeProcessCount, authenticateAcpConnection, cancelAcpSession, connect,
  createBridgingClientHandler, killAllProcesses, loadAcpSession, newAcpSession, promptAcpSession,
} = require('../..');
const {
  AcpAuthRequiredError, AcpSpawnError, HandshakeTimeoutError, IncompatibleProtocolError,
} = require('../../lib/errors.js');
const { createDefaultClientHandler } = require('../../lib/fusion/client-handler.js');
const { connection, cwd, say, turn } = require('./agent.js');

const HELLO = [{ type: 'text', text: 'hi' }];

describe('connect', () => {
  it('has the shape that callers hold, and counts synchronously', async () => {
    const open = await connection(turn());
    assert.equal(activeProcessCount(), 1);
    assert.equal(typeof open.conn.newSession, 'function');
    assert.ok(open.child.pid > 0);
    assert.deepEqual([open.child.killed, open.child.exitCode], [false, null]);
    assert.deepEqual(open.authMethods, []);
    assert.equal(open.stderr(), '');
    open.dispose();
    open.dispose();
    assert.equal(activeProcessCount(), 0);
    assert.equal(open.child.killed, true);
    await new Promise((resolve) => {
      open.child.once('exit', resolve);
    });
  });

  it('advertises files only where they are enabled', async () => {
    for (const [advertiseFs, expected] of [
      [{ read: false, write: false }, { readTextFile: { $not: true }, writeTextFile: { $not: true } }],
      [{ read: true, write: false }, { readTextFile: true, writeTextFile: { $not: true } }],
    ]) {
      const steps = [{ do: 'initialize' }, { do: 'check', value: '{{init.params.clientCapabilities.fs}}', matches: expected }];
      const open = await connection([...steps, { do: 'stderr', text: 'as expected' }], { advertiseFs });
      while (!open.stderr().includes('as expected')) await new Promise((resolve) => setTimeout(resolve, 5));
      open.dispose();
    }
  });

  it('fails as Node does for a missing binary', async () => {
    const failing = connect({ binaryPath: '/no/such/agent', args: [], cwd, env: {}, advertiseFs: { read: false, write: false } });
    await assert.rejects(failing, (error) => error instanceof AcpSpawnError && error.code === 'ENOENT'
      && error.message === 'spawn /no/such/agent ENOENT');
    assert.equal(activeProcessCount(), 0);
  });

  it('tells a silent agent, another version, and an early death apart', async () => {
    assert.equal(DEFAULT_INITIALIZE_TIMEOUT_MS, 30_000);
    const silent = connection([{ do: 'expect', method: 'initialize' }], { initializeTimeoutMs: 150 });
    await assert.rejects(silent, (error) => error instanceof HandshakeTimeoutError && error.code === 'handshake_timeout'
      && error.message.startsWith('ACP initialize handshake timed out after 150ms'));
    const other = connection([{ do: 'initialize', result: { protocolVersion: 999 } }]);
    await assert.rejects(other, (error) => error instanceof IncompatibleProtocolError && error.code === 'incompatible_protocol'
      && error.message === 'ACP agent negotiated incompatible protocol version 999 (client supports 1)');
    const dead = connection([{ do: 'stderr', text: 'no licence\n' }, { do: 'exit', code: 3 }]);
    await assert.rejects(dead, (error) => error.code === 'agent_exited' && error.exit.exitCode === 3
      && error.stderrTail.includes('no licence'));
    assert.equal(activeProcessCount(), 0);
  });

  it('authenticates when asked to', async () => {
    const methods = { authMethods: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] };
    const steps = [
      { do: 'initialize', result: methods },
      { do: 'expect', method: 'authenticate', params: { methodId: 'b', _meta: { headless: true } } },
      { do: 'respond', result: {} },
    ];
    const open = await connection(steps, { authenticate: { preferMethods: ['c', 'b'], require: true } });
    assert.deepEqual(open.authMethods.map(({ id }) => id), ['a', 'b']);
    open.dispose();
    const none = connection([{ do: 'initialize', result: methods }], { authenticate: { preferMethods: ['c'], require: true } });
    await assert.rejects(none, (error) => error instanceof AcpAuthRequiredError && error.code === 'acp_auth_required'
      && error.message === 'ACP agent requires authentication but no preferred method matched (available: a, b)');
  });

  it('ends everything at once', async () => {
    await Promise.all([connection(turn()), connection(turn())]);
    assert.equal(activeProcessCount(), 2);
    killAllProcesses();
    assert.equal(activeProcessCount(), 0);
  });
});

describe('a connection', () => {
  it('loads a session that it has loaded before anew, but not in its turn', async () => {
    const load = [{ do: 'expect', method: 'session/load', strict: true }, { do: 'respond', result: {} }];
    const begin = { do: 'prompt_begin', sessionId: 'old' };
    const open = await connection([
      { do: 'initialize', result: { agentCapabilities: { loadSession: true } } }, ...load, ...load, begin,
      { do: 'expect', method: '_go', strict: true }, { do: 'respond', result: {} }, { do: 'prompt_end' }, ...load, begin, { do: 'prompt_end' },
    ]);
    const again = () => loadAcpSession(open, { sessionId: 'old', cwd });
    await again();
    await again();
    const running = promptAcpSession(open, 'old', HELLO);
    await assert.rejects(again(), { code: 'session_already_open' });
    await open.conn.extMethod('_go', {});
    assert.equal(await running, 'end_turn');
    await again();
    assert.equal(await promptAcpSession(open, 'old', HELLO), 'end_turn');
    open.dispose();
  });

  it('goes on with a session that could not be loaded anew', async () => {
    /** @type {string[]} */
    const heard = [];
    const clientHandler = { ...createDefaultClientHandler(), sessionUpdate: async (/** @type {any} */ { update }) => void heard.push(update.content.text) };
    const open = await connection([
      { do: 'initialize', result: { agentCapabilities: { loadSession: true } } }, { do: 'session_new', sessionId: 's1' },
      { do: 'expect', method: 'session/load' }, { do: 'respond', error: { code: -32603, message: 'no' } },
      { do: 'prompt_begin', sessionId: 's1' }, { do: 'text', text: 'still here' }, { do: 'prompt_end' },
    ], { clientHandler });
    await newAcpSession(open, { cwd });
    await assert.rejects(loadAcpSession(open, { sessionId: 's1', cwd }), { code: 'agent_error' });
    await assert.rejects(loadAcpSession(open, { sessionId: 's1', cwd: 'relative' }), { code: 'invalid_argument' });
    assert.equal(await promptAcpSession(open, 's1', HELLO), 'end_turn');
    assert.deepEqual(heard, ['still here']);
    open.dispose();
  });

  it('runs a turn, with the handler’s callbacks, permission and all', async () => {
    const said = [];
    const gate = { permissionPolicy: { rules: {} } };
    const { handler, cancelPending, resetTurn } = createBridgingClientHandler({
      onText: (text) => said.push(text), onToolStart: (name) => said.push(`<${name}>`),
    }, gate);
    const during = [
      say('Hello'),
      { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Look', kind: 'read' } },
      { do: 'permission', toolCall: { toolCallId: 't', kind: 'read' },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }] },
      { do: 'expect_response', to: 'permission', result: { outcome: { outcome: 'selected', optionId: 'yes' } } },
      say('.'),
    ];
    const open = await connection(turn(during), { clientHandler: handler });
    const { sessionId } = await newAcpSession(open, { cwd });
    assert.equal(sessionId, 's1');
    resetTurn();
    assert.equal(await promptAcpSession(open, sessionId, [{ type: 'text', text: 'hi' }]), 'end_turn');
    assert.deepEqual(said, ['Hello', '<Look>', '.']);
    cancelPending();
    open.dispose();
  });

  it('answers a default handler’s questions with cancelled', async () => {
    const during = [
      { do: 'permission' },
      { do: 'expect_response', to: 'permission', result: { outcome: { outcome: 'cancelled' } } },
    ];
    const open = await connection(turn(during));
    await newAcpSession(open, { cwd });
    assert.equal(await promptAcpSession(open, 's1', HELLO), 'end_turn');
    open.dispose();
  });

  it('says how an agent died in the middle of a turn', async () => {
    const open = await connection(turn([{ do: 'stderr', text: 'boom happened\n' }, { do: 'exit', code: 9 }]));
    await newAcpSession(open, { cwd });
    await assert.rejects(promptAcpSession(open, 's1', HELLO), (error) => /^ACP turn failed: /.test(error.message)
      && error.message.includes('9') && error.message.includes('boom happened') && error.cause.exit.exitCode === 9);
    open.dispose();
  });

  it('carries the agent’s code', async () => {
    const steps = [
      { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
      { do: 'respond', to: 'prompt', error: { code: -32603, message: 'Internal error', data: { reason: 'upstream' } } },
    ];
    const open = await connection(steps);
    await newAcpSession(open, { cwd });
    await assert.rejects(promptAcpSession(open, 's1', HELLO),
      { message: 'Internal error (acp rpc code -32603, retryable) [data: {"reason":"upstream"}]' });
    open.dispose();
  });
});

describe('the session helpers', () => {
  it('pass exactly what they are given', async () => {
    const seen = [];
    const conn = {
      newSession: async (params) => {
        seen.push(params);
        return { sessionId: '../evil', modes: { currentModeId: 'a', availableModes: [] } };
      },
      loadSession: async (params) => {
        seen.push(params);
        return {};
      },
    };
    assert.deepEqual(await newAcpSession({ conn }, { cwd: '/w' }), { sessionId: '__evil', modes: { currentModeId: 'a', availableModes: [] } });
    await newAcpSession({ conn }, { cwd: '/w', mcpServers: [{ name: 'm' }], meta: { a: 1 } });
    await newAcpSession({ conn }, { cwd: '/w', meta: {} });
    assert.deepEqual(await loadAcpSession({ conn, agentCapabilities: { loadSession: true } }, { sessionId: 'a/b', cwd: '/w' }), { sessionId: 'a_b' });
    assert.deepEqual(seen, [
      { cwd: '/w', mcpServers: [] },
      { cwd: '/w', mcpServers: [{ name: 'm' }], _meta: { a: 1 } },
      { cwd: '/w', mcpServers: [] },
      { sessionId: 'a_b', cwd: '/w', mcpServers: [] },
    ]);
    seen.length = 0;
    await loadAcpSession({ conn, agentCapabilities: {} }, { sessionId: 'x', cwd: '/w' });
    assert.deepEqual(seen, [{ cwd: '/w', mcpServers: [] }]);
  });

  it('authenticate with the named method, else the first preferred one', async () => {
    const seen = [];
    const open = { conn: { authenticate: async (params) => void seen.push(params) }, authMethods: [{ id: 'a' }, { id: 'b' }] };
    assert.deepEqual(await authenticateAcpConnection(open, { methodId: 'b', preferMethods: ['a'] }), { methodId: 'b' });
    assert.deepEqual(await authenticateAcpConnection(open, { preferMethods: ['x', 'a'], meta: { m: 1 } }), { methodId: 'a' });
    assert.equal(await authenticateAcpConnection(open, { preferMethods: ['x'] }), undefined);
    assert.deepEqual(seen, [{ methodId: 'b', _meta: { headless: true } }, { methodId: 'a', _meta: { m: 1 } }]);
    await assert.rejects(authenticateAcpConnection({ ...open, authMethods: [] }, { require: true }), {
      name: 'AcpAuthRequiredError', message: 'ACP agent requires authentication but advertised no auth methods',
    });
  });

  it('cancel without waiting for ever, and never reject', async () => {
    await cancelAcpSession({ conn: { cancel: () => Promise.reject(new Error('x')) } }, 's');
    await cancelAcpSession({ conn: { cancel: () => new Promise(() => {}) } }, 's');
  });
});

describe('createBridgingClientHandler', () => {
  const ask = { sessionId: 's', toolCall: { toolCallId: 't', kind: 'execute', title: 'x' }, options: [] };

  it('has files only where they are enabled', () => {
    assert.ok(!('readTextFile' in createBridgingClientHandler({}).handler));
    const { handler } = createBridgingClientHandler({}, undefined, { cwd, allowRead: true, allowWrite: false });
    assert.equal(typeof handler.readTextFile, 'function');
    assert.ok(!('writeTextFile' in handler));
  });

  it('answers cancelled for what is open and for what comes later', async () => {
    let created = 0;
    const gate = {
      permissionPolicy: {}, createApprovalRequest: () => void created++, findApprovalByDedupeKey: async () => null,
      pauseForApproval: () => new Promise(() => {}),
    };
    const { handler, cancelPending } = createBridgingClientHandler({}, gate);
    const open = handler.requestPermission(ask);
    await Promise.resolve();
    await Promise.resolve();
    assert.equal(created, 1);
    cancelPending();
    cancelPending();
    assert.deepEqual(await open, { outcome: { outcome: 'cancelled' } });
    assert.deepEqual(await handler.requestPermission(ask), { outcome: { outcome: 'cancelled' } });
    assert.equal(created, 1);
  });

  it('takes extensions', async () => {
    const { handler } = createBridgingClientHandler({});
    assert.deepEqual(await handler.extMethod('_x.ai/anything', {}), {});
    assert.equal(await handler.extNotification('_x.ai/anything', {}), undefined);
  });
});
