'use strict';

// A result of a prompt that does not say how the turn ended is no clean end of it.

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpClient, AcpRuntimeAdapter, askAcpOnce, runCliAgentValidation } = require('../..');
const { adapter, cwd, say, script, settings } = require('./agent.js');

class Subclass extends AcpRuntimeAdapter {}

const MALFORMED = [
  'null', '[]', '"end_turn"', '5', 'true', '["end_turn"]',
  '{"stopReason":null}', '{"stopReason":""}', '{"stopReason":5}', '{"stopReason":["max_tokens"]}', '{"stopReason":{}}', '{"stopReason":false}',
  '{"stopReason":"end_turn","stopReason":"max_tokens"}',
];

/** @param {string} result */
const answering = (result) => [
  { do: 'initialize' }, { do: 'session_new', sessionId: 's1' }, { do: 'prompt_begin' }, say('{"verdict":"pass"}'),
  { do: 'raw', text: `{"jsonrpc":"2.0","id":{{prompt.id}},"result":${result}}\n` },
];

for (const result of MALFORMED) {
  describe(`the result ${result}`, () => {
    it('fails the ask, its text kept', async () => {
      for (const runtime of [adapter(answering(result)), new Subclass(settings(answering(result)))]) {
        const { error, ...failed } = /** @type {any} */ (await askAcpOnce(runtime, { prompt: 'p', cwd, recoverJson: true }));
        assert.match(failed.message, /response to session\/prompt is malformed/);
        assert.deepEqual({ ...failed, message: '' }, { ok: false, reason: 'turn_failed', message: '', text: '{"verdict":"pass"}' });
      }
    });

    it('is the error of the turn', async () => {
      const client = await AcpClient.launch({ ...script(answering(result)), cwd, env: {} });
      const session = await client.newSession();
      await assert.rejects(async () => session.prompt('p'), (/** @type {any} */ error) => {
        const { code, phase, partialText, promptMayHaveBeenSent } = error;
        assert.deepEqual([code, phase, partialText, promptMayHaveBeenSent], ['malformed_response', 'prompt', '{"verdict":"pass"}', true]);
        return true;
      });
      await client.close();
    });

    it('is no verdict', async () => {
      assert.equal((await runCliAgentValidation(adapter(answering(result)), { prompt: 'p', cwd })).status, 'error');
    });
  });
}

it('a result without a stopReason stays a clean end that gives no reason', async () => {
  for (const runtime of [adapter(answering('{}')), new Subclass(settings(answering('{}')))]) {
    assert.deepEqual(await askAcpOnce(runtime, { prompt: 'p', cwd, recoverJson: true }),
      { ok: true, text: '{"verdict":"pass"}', parsed: { verdict: 'pass' } });
  }
});

it('a settling turn takes no malformed result either', async () => {
  const client = await AcpClient.launch({ ...script(answering('{"stopReason":5}')), cwd, env: {} });
  const session = await client.newSession();
  await assert.rejects(async () => session.prompt('p', { settleMs: 20 }), { code: 'malformed_response' });
  await client.close();
});
