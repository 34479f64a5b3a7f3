'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { describeAcpTurnError, inspectAcpTurnError, promptAcpSession } = require('../..');
const { turnError } = require('../../lib/fusion/turn-errors.js');
const { AcpError } = require('../../lib/errors.js');

const flat = (code, message, data) => Object.assign(new Error(message), { code }, data === undefined ? {} : { data });
const nested = (code, message) => Object.assign(new Error('request failed'), { error: { code, message } });

describe('inspectAcpTurnError', () => {
  it('finds the code in either shape', () => {
    for (const error of [flat(-32603, 'Internal error'), nested(-32603, 'Internal error')]) {
      const { message, code, retryable } = inspectAcpTurnError(error);
      assert.deepEqual([message, code, retryable], ['Internal error', -32603, true]);
    }
  });

  it('knows which codes may pass by themselves', () => {
    for (const code of [-32603, -32000, -32001, -32002, -32003]) assert.equal(inspectAcpTurnError(flat(code, 'x')).retryable, true);
    for (const code of [-32600, -32601, -32602, -32004]) assert.equal(inspectAcpTurnError(flat(code, 'x')).retryable, false);
  });

  it('does not retry a missing login or resource that the runtime recognised', () => {
    for (const code of [-32000, -32002]) {
      const error = new AcpError('agent_error', 'x', { rpc: { code, message: 'x' } });
      assert.equal(inspectAcpTurnError(error).retryable, false);
    }
  });

  it('takes anything', () => {
    for (const [thrown, message] of [[new Error('boom'), 'boom'], ['text', 'text'], [null, 'unknown error'], [undefined, 'unknown error']]) {
      assert.deepEqual(inspectAcpTurnError(thrown), { message, code: undefined, retryable: false });
    }
  });
});

describe('describeAcpTurnError', () => {
  it('has the format that classifiers read', () => {
    assert.equal(describeAcpTurnError(flat(-32603, 'Internal error')), 'Internal error (acp rpc code -32603, retryable)');
    assert.equal(describeAcpTurnError(flat(-32602, 'Invalid params')), 'Invalid params (acp rpc code -32602)');
    assert.equal(describeAcpTurnError(new Error('boom')), 'boom');
  });

  it('shows data, bounded', () => {
    const shown = (data) => describeAcpTurnError(flat(-32603, 'E', data)).replace('E (acp rpc code -32603, retryable)', '');
    assert.equal(shown({ reason: 'x' }), ' [data: {"reason":"x"}]');
    assert.equal(shown('verbatim'), ' [data: verbatim]');
    assert.equal(shown(null), ' [data: null]');
    assert.equal(shown({}), '');
    assert.equal(shown('y'.repeat(5000)).length, ' [data: ]'.length + 500);
    const circular = {};
    circular.self = circular;
    assert.equal(shown(circular), ' [data: [object Object]]');
  });
});

describe('turnError', () => {
  it('says of a lost agent how it ended and what it said last', () => {
    const lost = new AcpError('agent_exited', 'the ACP agent exited (code 3)', {
      phase: 'prompt', exit: { exitCode: 3, signal: null }, stderrTail: 'out of memory\n', partialText: 'so far',
    });
    const error = turnError(lost);
    assert.match(error.message, /^ACP turn failed: .*code 3.*: out of memory$/);
    assert.equal(error.cause, lost);
    assert.equal(error.code, 'agent_exited');
    assert.equal(error.partialText, 'so far');
  });

  it('disguises nothing that would fail again', () => {
    assert.equal(turnError(new AcpError('invalid_argument', 'no')).message, 'no');
    assert.equal(turnError(flat(-32602, 'Invalid params')).message, 'Invalid params (acp rpc code -32602)');
  });
});

describe('promptAcpSession', () => {
  it('resolves with the stop reason, and rejects with the original as its cause', async () => {
    let params;
    const ok = { conn: { prompt: async (given) => {
      params = given;
      return { stopReason: 'end_turn' };
    } } };
    assert.equal(await promptAcpSession(ok, 's', [{ type: 'text', text: 'x' }]), 'end_turn');
    assert.deepEqual(params, { sessionId: 's', prompt: [{ type: 'text', text: 'x' }] });

    const original = flat(-32603, 'Internal error');
    const failing = { conn: { prompt: () => Promise.reject(original) } };
    await assert.rejects(promptAcpSession(failing, 's', []), (error) => error.cause === original
      && error.message === 'Internal error (acp rpc code -32603, retryable)');
  });
});
