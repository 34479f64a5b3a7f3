'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const util = require('node:util');
const errors = require('../../lib/errors.js');

const { AcpError, fromNative } = errors;

test('an error carries what is known and nothing else', () => {
  const bare = new AcpError('timeout', 'late');
  assert.deepEqual(Object.keys(bare).sort(), ['code', 'promptMayHaveBeenSent', 'retryable']);
  assert.equal('cause' in bare, false);
  assert.equal(bare.name, 'AcpError');
  assert.equal(String(bare), 'AcpError: late');
  assert.ok(bare instanceof Error);
  assert.match(bare.stack ?? '', /classes\.test\.js/);

  const cause = new Error('why');
  const full = new AcpError('agent_exited', 'gone', {
    phase: 'prompt',
    exit: { exitCode: null, signal: 'SIGKILL' },
    stderrTail: 'tail',
    retryable: true,
    promptMayHaveBeenSent: true,
    partialText: '',
    cause,
  });
  assert.deepEqual(full.exit, { exitCode: null, signal: 'SIGKILL' });
  assert.equal(full.partialText, '', 'an empty partial text is a fact, too');
  assert.equal(full.cause, cause);
  assert.match(util.inspect(full), /signal: 'SIGKILL'/);
});

test('a cause of undefined is kept apart from no cause', () => {
  assert.equal('cause' in new AcpError('aborted', 'x', { cause: undefined }), true);
});

test('the older classes keep name, code, fields and message', () => {
  /** @type {any[]} */
  const cases = [
    [new errors.IncompatibleProtocolError(2), 'IncompatibleProtocolError', 'incompatible_protocol',
      { agentProtocolVersion: 2, expected: 1 },
      'ACP agent negotiated incompatible protocol version 2 (client supports 1)'],
    [new errors.IncompatibleProtocolError(/** @type {any} */ (undefined), 3), 'IncompatibleProtocolError',
      'incompatible_protocol', { agentProtocolVersion: undefined, expected: 3 },
      'ACP agent negotiated incompatible protocol version undefined (client supports 3)'],
    [new errors.HandshakeTimeoutError(250), 'HandshakeTimeoutError', 'handshake_timeout', { timeoutMs: 250 },
      'ACP initialize handshake timed out after 250ms'],
    [new errors.AcpAuthRequiredError(['a', 'b']), 'AcpAuthRequiredError', 'acp_auth_required',
      { availableMethodIds: ['a', 'b'] },
      'ACP agent requires authentication but no preferred method matched (available: a, b)'],
    [new errors.AcpAuthRequiredError([]), 'AcpAuthRequiredError', 'acp_auth_required', { availableMethodIds: [] },
      'ACP agent requires authentication but advertised no auth methods'],
    [new errors.MissingAcpEnvError(['A', 'B']), 'MissingAcpEnvError', 'ACP_MISSING_ENV', { missingKeys: ['A', 'B'] },
      'Missing required ACP environment variable(s): A, B'],
    [new errors.FsContentTooLargeError(10), 'FsContentTooLargeError', 'content_too_large', { limitBytes: 10 },
      'fs write content exceeds the 10-byte ceiling'],
    [new errors.FsWriteDeniedError('no: /a'), 'FsWriteDeniedError', 'write_denied', {}, 'no: /a'],
    [new errors.PathJailError('denied_git', 'no: /.git'), 'PathJailError', 'denied_git', {}, 'no: /.git'],
    [new errors.AcpSpawnError('ENOENT', '/no/agent'), 'AcpSpawnError', 'ENOENT',
      { path: '/no/agent', syscall: 'spawn /no/agent' }, 'spawn /no/agent ENOENT'],
  ];
  for (const [error, name, code, fields, message] of cases) {
    assert.equal(error instanceof AcpError, true, name);
    assert.equal(error.name, name);
    assert.equal(error.code, code);
    assert.equal(error.message, message);
    assert.equal(error.stack.split('\n')[0], `${name}: ${message}`);
    for (const [key, value] of Object.entries(fields)) assert.deepEqual(error[key], value, `${name}.${key}`);
  }
});

test('a list that the caller changes later does not change the error', () => {
  const ids = ['a'];
  const error = new errors.AcpAuthRequiredError(ids);
  ids.push('b');
  assert.deepEqual(error.availableMethodIds, ['a']);
});

test('what an agent advertises cannot shape a message', () => {
  const hostile = ['\u001b[31mred\u0007', 'line\nbreak', 'x'.repeat(100_000), ...Array(1000).fill('many')];
  const { message, availableMethodIds } = new errors.AcpAuthRequiredError(hostile);
  assert.doesNotMatch(message, /[\u0000-\u001f]/);
  assert.ok(message.length < 32 * 260);
  assert.deepEqual(availableMethodIds, hostile, 'the field keeps what was said');
  const version = new errors.IncompatibleProtocolError(/** @type {any} */ ('v'.repeat(100_000)));
  assert.ok(version.message.length < 200);
});

/** `error::Details` as the native side writes it. @param {object} more @returns {Record<string, any>} */
const native = (more) => ({ message: 'told', retryable: false, promptMayHaveBeenSent: false, ...more });

test('a native failure becomes the error of its code, from an object and from JSON', () => {
  const details = native({
    code: 'agent_exited',
    phase: 'prompt',
    rpc: { code: -32603, message: 'Internal error', data: { details: 'x' } },
    exit: { exitCode: 3, signal: null },
    stderrTail: 'boom',
    retryable: true,
    promptMayHaveBeenSent: true,
    partialText: 'so far',
    extra: { n: 1 },
  });
  for (const error of [fromNative(details), fromNative(JSON.stringify(details))]) {
    assert.equal(error.constructor, AcpError);
    assert.deepEqual({ ...error }, {
      code: 'agent_exited',
      retryable: true,
      promptMayHaveBeenSent: true,
      phase: 'prompt',
      rpc: details.rpc,
      exit: details.exit,
      stderrTail: 'boom',
      partialText: 'so far',
      extra: { n: 1 },
    });
    assert.equal(error.message, 'told');
  }
});

test('every older class is built from its extras, with the context kept', () => {
  const context = { stderrTail: 'tail', exit: { exitCode: 1, signal: null }, phase: 'initialize' };
  /** @type {Array<[object, Function, Record<string, unknown>]>} */
  const cases = [
    [{ code: 'incompatible_protocol', extra: { agentProtocolVersion: 7, expected: 1 } }, errors.IncompatibleProtocolError,
      { agentProtocolVersion: 7, message: 'ACP agent negotiated incompatible protocol version 7 (client supports 1)' }],
    [{ code: 'incompatible_protocol', extra: { agentProtocolVersion: '2' } }, errors.IncompatibleProtocolError,
      { agentProtocolVersion: '2', message: 'ACP agent negotiated incompatible protocol version "2" (client supports 1)' }],
    [{ code: 'incompatible_protocol', extra: { agentProtocolVersion: null, expected: 1 } },
      errors.IncompatibleProtocolError, { agentProtocolVersion: undefined }],
    [{ code: 'incompatible_protocol' }, errors.IncompatibleProtocolError, { agentProtocolVersion: undefined, expected: 1 }],
    [{ code: 'handshake_timeout', extra: { timeoutMs: 30_000 } }, errors.HandshakeTimeoutError,
      { timeoutMs: 30_000, message: 'told' }],
    [{ code: 'handshake_timeout', message: '', extra: { timeoutMs: 30_000 } }, errors.HandshakeTimeoutError,
      { timeoutMs: 30_000, message: 'ACP initialize handshake timed out after 30000ms' }],
    [{ code: 'auth_required', extra: { authMethods: [{ id: 'a' }, { id: 7 }, null] } }, errors.AcpAuthRequiredError,
      { availableMethodIds: ['a'] }],
    [{ code: 'auth_required', extra: { availableMethodIds: ['login'] } }, errors.AcpAuthRequiredError,
      { code: 'acp_auth_required', availableMethodIds: ['login'] }],
    [{ code: 'auth_required', rpc: { code: -32000, message: 'Authentication required' } }, errors.AcpAuthRequiredError,
      { availableMethodIds: [], message: 'told' }],
    [{ code: 'missing_env', extra: { missingKeys: ['HOME'] } }, errors.MissingAcpEnvError,
      { code: 'ACP_MISSING_ENV', missingKeys: ['HOME'] }],
  ];
  for (const [details, errorClass, fields] of cases) {
    const error = /** @type {any} */ (fromNative(native({ ...context, ...details })));
    assert.equal(error.constructor, errorClass);
    assert.equal(error.stderrTail, 'tail');
    assert.deepEqual(error.exit, context.exit);
    assert.equal(error.phase, 'initialize', 'the native phase wins over the one of the class');
    for (const [key, value] of Object.entries(fields)) assert.deepEqual(error[key], value, key);
  }
});

test('a null member counts as absent', () => {
  const error = fromNative(native({ code: 'handshake_timeout', phase: null, extra: { timeoutMs: 1 }, rpc: null }));
  assert.equal(error.phase, 'initialize');
  assert.equal('rpc' in error, false);
});

test('a missing binary is spelt for its caller', () => {
  const details = native({ code: 'missing_binary', phase: 'spawn', extra: { path: 'agent', systemCode: 'ENOENT' } });
  const typed = /** @type {any} */ (fromNative(details));
  assert.equal(typed.constructor, AcpError);
  assert.equal(typed.code, 'missing_binary');
  assert.equal(typed.message, 'told');
  assert.equal(typed.cause.code, 'ENOENT');
  assert.equal(typed.cause.message, 'spawn agent ENOENT');

  const dropIn = /** @type {any} */ (fromNative(details, { nodeSpawnErrors: true }));
  assert.equal(dropIn.constructor, errors.AcpSpawnError);
  assert.equal(dropIn.code, 'ENOENT');
  assert.equal(dropIn.message, 'spawn agent ENOENT');
  assert.equal(dropIn.path, 'agent');
  assert.equal(dropIn.phase, 'spawn');

  const refused = native({ code: 'spawn_error', extra: { path: 'agent', systemCode: 'EACCES' } });
  assert.equal(fromNative(refused, { nodeSpawnErrors: true }).code, 'EACCES');
  assert.equal(fromNative(refused).code, 'spawn_error');
  const odd = native({ code: 'spawn_error', extra: { path: 'agent', systemCode: 'EWEIRD' } });
  assert.equal(fromNative(odd, { nodeSpawnErrors: true }).code, 'spawn_error');
  assert.equal('cause' in fromNative(odd), false);

  const searched = native({ code: 'missing_binary', extra: { searched: ['/bin/agent'], searchedCount: 1 } });
  assert.equal(fromNative(searched, { nodeSpawnErrors: true, command: 'agent' }).message, 'spawn agent ENOENT');
  assert.deepEqual(fromNative(searched, { nodeSpawnErrors: true, command: 'agent' }).extra, searched.extra);
  assert.equal(fromNative(searched, { nodeSpawnErrors: true }).code, 'missing_binary', 'nothing to name');
});

test('the cause that the caller names wins', () => {
  const reason = new Error('stop');
  assert.equal(fromNative(native({ code: 'aborted' }), { cause: reason }).cause, reason);
});

test('what cannot be understood is an internal error, never an exception', () => {
  for (const odd of ['not json', '"text"', 'null', '', { code: 'of_tomorrow', message: 'x' }, { code: 'toString' }, {}]) {
    const error = fromNative(/** @type {any} */ (odd));
    assert.equal(error.code, 'internal_error', JSON.stringify(odd));
    assert.ok(error.message.length > 0 || odd === '', JSON.stringify(odd));
  }
});
