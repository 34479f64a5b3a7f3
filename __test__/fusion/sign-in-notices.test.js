'use strict';

// A reply that is nothing but a notice to sign in is a failure, on every way to ask.

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpRuntimeAdapter, askAcpOnce, isSignInNotice, runCliAgentValidation } = require('../..');
const { adapter, cwd, say, settings, turn } = require('./agent.js');

const NOTICE = 'Not logged in · Please run /login';
const steps = (/** @type {string} */ text) => turn([...text].map((character) => say(character)));
const methods = [{ id: 'claude-login', name: 'Login' }];
const offering = (/** @type {string} */ text) => [{ do: 'initialize', result: { authMethods: methods } }, ...steps(text).slice(1)];

class Subclass extends AcpRuntimeAdapter {}

/** A runtime of somebody else's. @param {string} text */
const foreign = (text) => ({
  id: 'x', name: 'X', describeModel: () => 'x',
  createSession: async (/** @type {any} */ { onText }) => ({ session: { onText } }),
  promptWithFallback: async (/** @type {any} */ session) => session.onText(text),
});

/** @type {Array<[string, (text: string) => Promise<any>]>} */
const WAYS = [
  ['natively', (text) => askAcpOnce(adapter(steps(text)), { prompt: 'p', cwd })],
  ['with a model', (text) => askAcpOnce(adapter(steps(text)), { prompt: 'p', cwd, model: 'some-model' })],
  ['with a subclass', (text) => askAcpOnce(new Subclass(settings(steps(text))), { prompt: 'p', cwd })],
  ['with another runtime', (text) => askAcpOnce(/** @type {any} */ (foreign(text)), { prompt: 'p', cwd })],
];

for (const [how, ask] of WAYS) {
  describe(`a notice as the answer, asked ${how}`, () => {
    it('is a failed turn that says what to do', async () => {
      const { error, ...failed } = await ask(NOTICE);
      assert.equal(error.code, 'sign_in_required');
      assert.equal(error.phase, 'prompt');
      assert.equal(error.promptMayHaveBeenSent, true);
      const message = `the ACP agent is not signed in; its whole reply was: ${NOTICE}`;
      const stopReason = how === 'with another runtime' ? {} : { stopReason: 'end_turn' };
      assert.deepEqual(failed, { ok: false, reason: 'turn_failed', message, text: NOTICE, ...stopReason });
    });

    it('is an answer where it is only mentioned', async () => {
      assert.equal((await ask(`The text is: ${NOTICE}`)).ok, true);
    });
  });
}

it('the message names the ways to sign in, on both ways through the adapter', async () => {
  const expected = `the ACP agent is not signed in (it offers claude-login); its whole reply was: ${NOTICE}`;
  for (const runtime of [adapter(offering(NOTICE)), new Subclass(settings(offering(NOTICE)))]) {
    assert.equal(/** @type {any} */ (await askAcpOnce(runtime, { prompt: 'p', cwd })).message, expected);
  }
});

it('a notice is no verdict', async () => {
  for (const runtime of [adapter(steps(NOTICE)), new Subclass(settings(steps(NOTICE))), foreign(NOTICE)]) {
    const verdict = await runCliAgentValidation(/** @type {any} */ (runtime), { prompt: 'p', cwd });
    assert.equal(verdict.status, 'error');
    assert.match(verdict.summary, /not signed in/);
  }
});

it('the rule is there for hosts of the typed API', () => {
  assert.equal(isSignInNotice(NOTICE), true);
  for (const other of ['', 'ok', `It says "${NOTICE}".`, undefined, null, 5, {}]) assert.equal(isSignInNotice(other), false);
});
