'use strict';

// What a probe tells beyond the contract's status.

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpError, activeProcessCount, probeAcpReadiness } = require('../..');
const { cwd, script } = require('./agent.js');

/** @param {any[]} steps @param {object} [more] */
function probe(steps, more = {}) {
  const { command, args } = script(steps);
  return probeAcpReadiness({ binaryPath: command, args, cwd, env: {}, ...more });
}

const told = {
  agentInfo: { name: 'a\u001b[31mgent', version: '1.2' },
  agentCapabilities: { loadSession: true },
  authMethods: [{ id: 'login', name: 'Login' }],
  _meta: { x: 1 },
};
const SIGNED_OUT = { code: -32000, message: 'Authentication required' };
const refusing = (/** @type {any} */ error) => [
  { do: 'initialize', result: told }, { do: 'stderr', text: 'no session for you\n' },
  { do: 'expect', method: 'session/new' }, { do: 'sleep', ms: 50 }, { do: 'respond', error },
];

describe('a probe', () => {
  it('tells what the agent says of itself, cleaned, and how long it took', async () => {
    const status = await probe([{ do: 'stderr', text: 'starting\n' }, { do: 'sleep', ms: 50 }, { do: 'initialize', result: told }]);
    assert.deepEqual(status, { ok: true, reason: 'ok', protocolVersion: 1, authRequired: true });
    const { agent, elapsedMs, stderrTail, error } = status;
    assert.equal(agent?.agentCapabilities.loadSession, true);
    assert.equal(agent?.agentInfo?.name, 'agent');
    assert.deepEqual({ ...agent, agentInfo: {} }, {
      agentInfo: {}, agentCapabilities: agent?.agentCapabilities, authMethods: told.authMethods, meta: { x: 1 },
    });
    assert.ok(typeof elapsedMs === 'number' && elapsedMs >= 50);
    assert.equal(stderrTail, 'starting\n');
    assert.equal(error, undefined);
    assert.equal('error' in status, false);
  });

  it('keeps to the contract where it is compared or stored', async () => {
    const status = await probe([{ do: 'initialize' }]);
    assert.deepEqual(Object.keys(status), ['ok', 'reason', 'protocolVersion', 'authRequired']);
    assert.equal(JSON.stringify(status), '{"ok":true,"reason":"ok","protocolVersion":1,"authRequired":false}');
    assert.deepEqual(Object.keys(/** @type {any} */ (status.agent)).sort(), ['agentCapabilities', 'agentInfo', 'authMethods']);
    assert.equal('stderrTail' in status, false);
  });

  it('has the error of what went wrong, with stderr and exit', async () => {
    const status = await probe([{ do: 'stderr', text: 'fatal: no config\n' }, { do: 'exit', code: 3 }]);
    assert.deepEqual(Object.keys(status), ['ok', 'reason', 'detail']);
    assert.ok(status.error instanceof AcpError);
    assert.deepEqual([status.error.code, status.error.exit?.exitCode], ['agent_exited', 3]);
    assert.match(status.stderrTail ?? '', /fatal: no config/);
    assert.equal('agent' in status, false);
    const none = await probeAcpReadiness(/** @type {any} */ (undefined));
    assert.deepEqual([none.ok, none.reason], [false, 'spawn_error']);
    for (const timeoutMs of ['5', Number.NaN, -1]) {
      const wrong = await probe([{ do: 'initialize' }], { timeoutMs });
      assert.equal(wrong.error?.code, 'invalid_argument', String(timeoutMs));
    }
  });
});

describe('a deep probe', () => {
  it('tells an agent that wants to be signed in from one that is', async () => {
    const shallow = await probe(refusing(SIGNED_OUT));
    assert.equal(shallow.ok, true);
    const deep = await probe(refusing(SIGNED_OUT), { deep: true });
    const { detail, ...status } = deep;
    assert.deepEqual(status, { ok: false, reason: 'unauthenticated', protocolVersion: 1, authRequired: true });
    assert.match(detail ?? '', /Authentication required/);
    assert.equal(deep.error?.code, 'acp_auth_required');
    assert.deepEqual(/** @type {any} */ (deep.error).availableMethodIds, ['login']);
    assert.equal(deep.agent?.authMethods[0].id, 'login');
    assert.match(deep.stderrTail ?? '', /no session for you/);
  });

  it('is ready when the session opens', async () => {
    const status = await probe([{ do: 'initialize' }, { do: 'session_new' }], { deep: true });
    assert.deepEqual(status, { ok: true, reason: 'ok', protocolVersion: 1, authRequired: false });
  });

  it('does not take another refusal for one to sign in, nor waits for ever', async () => {
    const other = await probe(refusing({ code: -32603, message: 'no model' }), { deep: true });
    assert.deepEqual([other.reason, other.error?.code], ['spawn_error', 'agent_error']);
    const silent = await probe([{ do: 'initialize' }, { do: 'expect', method: 'session/new' }], { deep: true, timeoutMs: 300 });
    assert.deepEqual([silent.ok, silent.reason], [false, 'handshake_timeout']);
    assert.equal(activeProcessCount(), 0);
  });
});
