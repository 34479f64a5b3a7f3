'use strict';

// What takes no argument at face value: a caller's mistake has a code, and what never rejects does not.

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpError, AcpRuntimeAdapter, activeProcessCount, askAcpOnce, buildSpawnEnv, runCliAgentValidation } = require('../..');
const { adapter, cwd, say, settings, turn } = require('./agent.js');

class Subclass extends AcpRuntimeAdapter {}

const good = { prompt: 'p', cwd };
/** Options that are none, each with what its message names. @type {Array<[any, RegExp]>} */
const BAD = [
  [undefined, /options/], [null, /options/], ['x', /options/], [{}, /prompt/],
  [{ ...good, prompt: undefined }, /prompt/], [{ ...good, prompt: 5 }, /prompt/], [{ ...good, prompt: [] }, /prompt/],
  [{ ...good, cwd: undefined }, /cwd/], [{ ...good, cwd: 5 }, /cwd/],
  [{ ...good, model: 5 }, /model/], [{ ...good, model: {} }, /model/],
  [{ ...good, systemPrompt: 5 }, /systemPrompt/],
  [{ ...good, timeoutMs: '500' }, /timeoutMs/], [{ ...good, timeoutMs: Number.NaN }, /timeoutMs/],
  [{ ...good, timeoutMs: -1 }, /timeoutMs/], [{ ...good, timeoutMs: {} }, /timeoutMs/], [{ ...good, timeoutMs: 5n }, /timeoutMs/],
];
const RUNTIMES = [undefined, null, 5, 'x', {}, { createSession: 5 }];

describe('askAcpOnce', () => {
  it('answers wrong options with a failure, whatever the runtime', async () => {
    for (const [options, named] of BAD) {
      for (const runtime of [adapter(turn()), new Subclass(settings(turn()))]) {
        const { error, ...failed } = /** @type {any} */ (await askAcpOnce(runtime, options));
        assert.deepEqual({ ...failed, message: '' }, { ok: false, reason: 'create_session_failed', message: '' });
        assert.match(failed.message, named);
        assert.ok(error instanceof AcpError);
        assert.equal(error.code, 'invalid_argument');
      }
    }
    assert.equal(activeProcessCount(), 0);
  });

  it('answers a runtime that is none with a failure', async () => {
    for (const runtime of RUNTIMES) {
      const failed = /** @type {any} */ (await askAcpOnce(/** @type {any} */ (runtime), good));
      assert.deepEqual([failed.reason, failed.error.code], ['create_session_failed', 'invalid_argument']);
    }
  });

  it('answers an option that throws when it is read with a failure', async () => {
    const options = { prompt: 'p', get cwd() { throw new Error('theirs'); } };
    const failed = /** @type {any} */ (await askAcpOnce(adapter(turn()), /** @type {any} */ (options)));
    assert.deepEqual([failed.reason, failed.message], ['create_session_failed', 'theirs']);
  });

  it('takes what is absent for absent', async () => {
    const options = { ...good, model: undefined, systemPrompt: undefined, timeoutMs: undefined, recoverJson: undefined };
    assert.equal((await askAcpOnce(adapter(turn([say('x')])), options)).ok, true);
  });
});

it('runCliAgentValidation answers wrong arguments with an error', async () => {
  for (const [options, named] of BAD.filter(([options]) => options?.model === undefined)) {
    const verdict = await runCliAgentValidation(adapter(turn()), options);
    assert.equal(verdict.status, 'error');
    // Without options there is nothing of them to name but the first that is missing.
    assert.match(verdict.summary, options === null || typeof options !== 'object' ? /options|prompt/ : named);
  }
  for (const runtime of RUNTIMES) assert.equal((await runCliAgentValidation(/** @type {any} */ (runtime), good)).status, 'error');
});

it('buildSpawnEnv names the argument that is wrong', () => {
  /** @type {Array<[any[], RegExp]>} */
  const wrong = [
    [[[5]], /allowList/], [[['A', null]], /allowList/], [['PATH'], /allowList/], [[undefined], /allowList/], [[{}], /allowList/],
    [[['A'], { required: [5] }], /required/], [[['A'], { required: 'A' }], /required/],
    [[['A'], null], /options/], [[['A'], 5], /options/],
    [[['A'], { sourceEnv: 5 }], /sourceEnv/], [[['A'], { sourceEnv: null }], /sourceEnv/],
  ];
  for (const [args, named] of wrong) {
    assert.throws(() => /** @type {any} */ (buildSpawnEnv)(...args), (/** @type {any} */ error) => {
      assert.ok(error instanceof AcpError, String(error));
      assert.equal(error.code, 'invalid_argument');
      assert.match(error.message, named);
      return true;
    });
  }
  assert.deepEqual(buildSpawnEnv(['A', 'B'], { sourceEnv: { A: 'x', B: undefined } }), { A: 'x' });
});
