'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { acp, fakeApi } = require('./world');

for (const [status, code, stdout, stderr] of [
  [{ ok: true, reason: 'ok', protocolVersion: 1 }, 0, /^ready: ACP version 1\n$/, /^$/],
  [{ ok: true, reason: 'ok', protocolVersion: 1, authRequired: true }, 0, /authentication/, /^$/],
  [{ ok: false, reason: 'missing_binary', detail: 'not found: x' }, 127, /^$/, /^not ready: missing_binary: not found: x\n$/],
  [{ ok: false, reason: 'handshake_timeout' }, 124, /^$/, /^not ready: handshake_timeout\n$/],
  [{ ok: false, reason: 'spawn_error' }, 1, /^$/, /spawn_error/],
  [{ ok: false, reason: 'incompatible_protocol' }, 1, /^$/, /incompatible_protocol/],
  [{ ok: false, reason: 'unauthenticated' }, 1, /^$/, /unauthenticated/],
]) {
  test(`a probe that says ${JSON.stringify(status)} exits with ${code}`, async () => {
    const argv = ['probe', '--agent', 'my-agent --acp', '--timeout', '70'];
    const plain = await acp(argv, { api: fakeApi({ status }) });
    assert.equal(plain.code, code);
    assert.match(plain.stdout, /** @type {RegExp} */ (stdout));
    assert.match(plain.stderr, /** @type {RegExp} */ (stderr));
    const { binaryPath, args, cwd, env, timeoutMs } = plain.seen.probe;
    assert.deepEqual([binaryPath, args, cwd, timeoutMs], ['my-agent', ['--acp'], process.cwd(), 70]);
    assert.equal(env.PATH, 'value of PATH');
    const json = await acp([...argv, '--json'], { api: fakeApi({ status }) });
    assert.equal(json.code, code);
    assert.deepEqual(JSON.parse(json.stdout), status);
  });
}
