'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpRuntimeAdapter, activeProcessCount, askAcpOnce, probeAcpReadiness } = require('../..');
const { adapter, cwd, say, script, turn } = require('./agent.js');

/** A runtime of somebody else's, which records what it is asked. */
function foreign({ text = 'hello', stopReason = 'end_turn', fail = {}, ...more } = {}) {
  const calls = [];
  return {
    calls,
    id: 'x', name: 'X', describeModel: () => 'x',
    createSession: async (options) => {
      calls.push(['create', options]);
      if (fail.create) throw fail.create;
      return { session: { say: options.onText, dispose: () => calls.push(['session.dispose']) } };
    },
    promptWithFallback: async (session, prompt) => {
      calls.push(['prompt', prompt]);
      session.say(text);
      if (fail.prompt) throw fail.prompt;
      return stopReason === null ? undefined : { stopReason };
    },
    dispose: async () => {
      calls.push(['dispose']);
      if (fail.dispose) throw fail.dispose;
    },
    ...more,
  };
}

/** @param {any} failure */
const facts = ({ reason, error }) => [reason, error?.code, error?.phase, error?.partialText, error?.stderrTail];

describe('askAcpOnce with any runtime', () => {
  it('asks for a read-only session and disposes once', async () => {
    const runtime = foreign();
    assert.deepEqual(await askAcpOnce(runtime, { prompt: 'p', cwd: '/w', model: 'm' }), { ok: true, text: 'hello', stopReason: 'end_turn' });
    const { onText, ...options } = runtime.calls[0][1];
    assert.equal(typeof onText, 'function');
    assert.deepEqual(options, {
      cwd: '/w', systemPrompt: '', tools: 'readonly', defaultModelId: 'm',
      runtimeContext: { sessionPurpose: 'cli-agent-ask', toolMode: 'readonly' },
    });
    assert.deepEqual(runtime.calls.slice(1), [['prompt', 'p'], ['dispose']]);
  });

  it('has no keys for what there is not', async () => {
    assert.deepEqual(await askAcpOnce(foreign({ stopReason: null }), { prompt: 'p', cwd: '/' }), { ok: true, text: 'hello' });
    assert.deepEqual(await askAcpOnce(foreign({ text: '{"a":1}' }), { prompt: 'p', cwd: '/', recoverJson: true }),
      { ok: true, text: '{"a":1}', parsed: { a: 1 }, stopReason: 'end_turn' });
  });

  it('tells its failures apart', async () => {
    const ask = (init, options) => askAcpOnce(foreign(init), { prompt: 'p', cwd: '/', ...options });
    assert.deepEqual(await ask({ fail: { create: new Error('no') } }), { ok: false, reason: 'create_session_failed', message: 'no' });
    assert.deepEqual(await ask({ fail: { prompt: new Error('no') } }), { ok: false, reason: 'turn_failed', message: 'no', text: 'hello' });
    assert.deepEqual(await ask({ stopReason: 'max_tokens', text: '{"a":1}' }, { recoverJson: true }), {
      ok: false, reason: 'abnormal_stop', message: 'ACP prompt ended with stopReason=max_tokens', text: '{"a":1}', stopReason: 'max_tokens',
    });
    const late = foreign({ promptWithFallback: (session) => {
      session.say('so far');
      return new Promise((resolve, reject) => {
        setTimeout(reject, 60, new Error('late'));
      });
    } });
    assert.deepEqual(await askAcpOnce(late, { prompt: 'p', cwd: '/', timeoutMs: 20 }),
      { ok: false, reason: 'timeout', message: 'ACP prompt timed out after 20ms', text: 'so far' });
    assert.deepEqual(late.calls.at(-1), ['dispose']);
    await new Promise((resolve) => setTimeout(resolve, 80));
  });

  it('does not mind what disposing does', async () => {
    assert.equal((await askAcpOnce(foreign({ fail: { dispose: new Error('no') } }), { prompt: 'p', cwd: '/' })).ok, true);
    const plain = foreign({ dispose: undefined });
    await askAcpOnce(plain, { prompt: 'p', cwd: '/' });
    assert.deepEqual(plain.calls.at(-1), ['session.dispose']);
  });
});

describe('askAcpOnce with this package’s adapter', () => {
  const ask = (runtime, options) => askAcpOnce(runtime, { prompt: 'p', cwd, ...options });

  it('gives the same answers without a session in JavaScript', async () => {
    const runtime = adapter(turn([say('The answer: '), say('{"a":1}')]));
    runtime.start = () => assert.fail('not natively');
    assert.deepEqual(await ask(runtime, { recoverJson: true }), { ok: true, text: 'The answer: {"a":1}', parsed: { a: 1 }, stopReason: 'end_turn' });
    assert.equal(activeProcessCount(), 0);
  });

  it('sends the system prompt', async () => {
    const steps = [
      { do: 'initialize' }, { do: 'session_new' },
      { do: 'prompt_begin', params: { prompt: { $exact: [{ type: 'text', text: 'Be brief.' }, { type: 'text', text: 'p' }] } } },
      say('ok'), { do: 'prompt_end' },
    ];
    assert.equal((await ask(adapter(steps), { systemPrompt: 'Be brief.' })).ok, true);
  });

  it('gives the same failures', async () => {
    const missing = await ask(new AcpRuntimeAdapter({ acpBinaryPath: '/no/such/agent' }));
    assert.deepEqual(missing, { ok: false, reason: 'create_session_failed', message: 'spawn /no/such/agent ENOENT' });
    const cut = await ask(adapter(turn([say('{"a":1}')], 'max_tokens')), { recoverJson: true });
    assert.deepEqual(cut, {
      ok: false, reason: 'abnormal_stop', message: 'ACP prompt ended with stopReason=max_tokens', text: '{"a":1}', stopReason: 'max_tokens',
    });
    const silent = await ask(adapter([{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, say('part')]), { timeoutMs: 200 });
    assert.deepEqual(silent, { ok: false, reason: 'timeout', message: 'ACP prompt timed out after 200ms', text: 'part' });
    const refused = [{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
      { do: 'respond', to: 'prompt', error: { code: -32603, message: 'Internal error' } }];
    assert.deepEqual(await ask(adapter(refused)),
      { ok: false, reason: 'turn_failed', message: 'Internal error (acp rpc code -32603, retryable)' });
    const died = await ask(adapter(turn([{ do: 'stderr', text: 'fatal: gone\n' }, { do: 'exit', code: 3 }])));
    assert.equal(died.reason, 'turn_failed');
    assert.match(died.message, /^ACP turn failed: .*fatal: gone/s);
    assert.equal(activeProcessCount(), 0);
  });

  it('has the error with what the agent said in either way', async () => {
    const words = { do: 'stderr', text: 'why\n' };
    // The first is asked natively, the second through a session: no argument chooses its model.
    for (const options of [{}, { model: 'b' }]) {
      const cut = await ask(adapter(turn([words, say('part'), { do: 'sleep', ms: 50 }], 'max_tokens')), options);
      assert.deepEqual(facts(cut), ['abnormal_stop', 'abnormal_stop', 'prompt', 'part', 'why\n']);
      const silent = [{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, words, say('part')];
      assert.deepEqual(facts(await ask(adapter(silent), { ...options, timeoutMs: 400 })), ['timeout', 'timeout', 'prompt', 'part', 'why\n']);
      const notice = 'Not logged in · Please run /login';
      const signedOut = await ask(adapter(turn([words, say(notice), { do: 'sleep', ms: 50 }])), options);
      assert.deepEqual(facts(signedOut), ['turn_failed', 'sign_in_required', 'prompt', notice, 'why\n']);
    }
  });

  it('chooses a model in the session where no argument does', async () => {
    const option = { id: 'm', name: 'm', category: 'model', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'a' }, { value: 'b', name: 'b' }] };
    const steps = [
      { do: 'initialize' }, { do: 'session_new', result: { configOptions: [option] } },
      { do: 'expect', method: 'session/set_config_option', params: { configId: 'm', value: 'b' } }, { do: 'respond', result: { configOptions: [] } },
      { do: 'prompt_begin' }, say('ok'), { do: 'prompt_end' },
    ];
    assert.deepEqual(await ask(adapter(steps), { model: 'b' }), { ok: true, text: 'ok', stopReason: 'end_turn' });
    assert.equal(activeProcessCount(), 0);
  });
});

describe('probeAcpReadiness', () => {
  const probe = (steps, more = {}) => {
    const { command, args } = script(steps);
    return probeAcpReadiness({ binaryPath: command, args, cwd, env: {}, ...more });
  };

  it('is the handshake', async () => {
    assert.deepEqual(await probe([{ do: 'initialize' }]), { ok: true, reason: 'ok', protocolVersion: 1, authRequired: false });
    assert.equal((await probe([{ do: 'initialize', result: { authMethods: [{ id: 'a', name: 'A' }] } }])).authRequired, true);
    assert.equal(activeProcessCount(), 0);
  });

  it('never rejects', async () => {
    assert.deepEqual(await probeAcpReadiness({ binaryPath: '/no/such/agent', args: [], cwd, env: {} }),
      { ok: false, reason: 'missing_binary', detail: 'ACP agent binary not found: /no/such/agent' });
    assert.equal((await probe([{ do: 'expect', method: 'initialize' }], { timeoutMs: 150 })).reason, 'handshake_timeout');
    const other = await probe([{ do: 'initialize', result: { protocolVersion: 999 } }]);
    assert.deepEqual([other.reason, other.protocolVersion], ['incompatible_protocol', 999]);
    assert.equal((await probe([{ do: 'exit', code: 1 }])).reason, 'spawn_error');
    for (const wrong of [{}, undefined, null, 5]) {
      const status = await probeAcpReadiness(/** @type {any} */ (wrong));
      assert.deepEqual([status.reason, status.error?.code], ['spawn_error', 'invalid_argument']);
    }
    assert.equal(activeProcessCount(), 0);
  });
});
