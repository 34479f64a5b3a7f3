'use strict';

// What comes with a failure of the agent: the end of its stderr, and text only where text came.

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpClient } = require('../..');
const { adapter, cwd, say, script, turn } = require('../fusion/agent.js');

const WORDS = 'the real reason\n';
/** Stderr is another pipe than the answer; where it is not read before the failure is told, it gets the time to arrive. */
const told = [{ do: 'stderr', text: WORDS }, ...(process.platform === 'win32' ? [{ do: 'sleep', ms: 100 }] : [])];
const opening = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1' }, { do: 'prompt_begin' }];
const answer = (/** @type {any} */ error) => ({ do: 'respond', to: 'prompt', error });

/** @type {Array<[string, any[], object, string]>} */
const FAILURES = [
  ['an error', [answer({ code: -32603, message: 'Internal error' })], {}, 'agent_error'],
  ['an error with empty data', [answer({ code: -32603, message: 'Internal error', data: {} })], {}, 'agent_error'],
  ['an error with null for data', [answer({ code: -32603, message: 'Internal error', data: null })], {}, 'agent_error'],
  ['a demand to sign in', [answer({ code: -32000, message: 'Authentication required' })], {}, 'acp_auth_required'],
  ['a malformed answer', [{ do: 'respond', to: 'prompt', result: { stopReason: 5 } }], {}, 'malformed_response'],
  ['no answer in time', [], { timeoutMs: 400 }, 'timeout'],
  ['silence', [], { idleTimeoutMs: 400 }, 'turn_stalled'],
];

/** @param {any[]} steps @param {(session: any, client: any) => Promise<any>} run */
async function failing(steps, run) {
  const client = await AcpClient.launch({ ...script(steps), cwd, env: {} });
  try {
    const session = await client.newSession();
    return await run(session, client).then(() => assert.fail('it did not fail'), (error) => error);
  } finally {
    client.kill();
    await client.close();
  }
}

for (const [what, end, options, code] of FAILURES) {
  describe(`a turn that fails by ${what}`, () => {
    it('has the end of stderr, and no text where none came', async () => {
      const error = await failing([...opening, ...told, ...end], async (session) => session.prompt('p', options));
      assert.deepEqual([error.code, error.stderrTail], [code, WORDS]);
      assert.equal('partialText' in error, false);
    });

    it('has the text that came, and no stderr where there is none', async () => {
      const error = await failing([...opening, say('so far'), ...end], async (session) => session.prompt('p', options));
      assert.deepEqual([error.code, error.partialText], [code, 'so far']);
      assert.equal('stderrTail' in error, false);
    });

    it('has them for a session of the adapter, too', async () => {
      const limits = 'timeoutMs' in options ? { acpPromptTimeoutMs: 400 } : { acpIdleTimeoutMs: 400 };
      const runtime = adapter([...opening, ...told, ...end], limits);
      const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
      await assert.rejects(runtime.promptWithFallback(session, 'p'), (/** @type {any} */ error) => {
        assert.deepEqual([error.code, error.stderrTail, 'partialText' in error], [code, WORDS, false]);
        return true;
      });
      await runtime.dispose(session);
    });
  });
}

it('calls and sessions that fail have the end of stderr', async () => {
  const steps = [
    { do: 'initialize' }, { do: 'session_new' }, ...told,
    { do: 'expect', method: 'session/new' }, { do: 'respond', error: { code: -32603, message: 'no more' } },
    { do: 'expect', method: '_x/y' }, { do: 'respond', error: { code: -32601, message: 'what?' } },
    { do: 'expect', method: '_x/z' },
  ];
  await failing(steps, async (_session, client) => {
    for (const [code, call] of /** @type {Array<[string, () => Promise<any>]>} */ ([
      ['agent_error', () => client.newSession()],
      ['agent_error', () => client.request('_x/y', {})],
      ['timeout', () => client.request('_x/z', {}, { timeoutMs: 200 })],
    ])) {
      await assert.rejects(call, (/** @type {any} */ error) => {
        assert.deepEqual([error.code, error.stderrTail], [code, WORDS]);
        return true;
      });
    }
    throw new Error('done');
  });
});

it('what the host did wrong, or wanted, has nothing of stderr', async () => {
  const error = await failing([...opening, ...told, { do: 'prompt_end' }], async (session) => {
    await session.prompt('p');
    return session.prompt([]);
  });
  assert.equal(error.code, 'invalid_argument');
  assert.equal('stderrTail' in error, false);
});

it('stderr in an error is bounded and has no secret', async () => {
  const secret = 'sk-ant-REDACTABLE0123456789abcdef';
  const noise = [{ do: 'stderr', text: 'x'.repeat(1000), repeat: 200 }, { do: 'stderr', text: `\nkey ${secret}\n` }, { do: 'sleep', ms: 200 }];
  const error = await failing([...opening, ...noise, answer({ code: -32603, message: 'Internal error' })], async (session) => session.prompt('p'));
  assert.ok(error.stderrTail.length <= 64 * 1024);
  assert.match(error.stderrTail, /\nkey /);
  assert.doesNotMatch(error.stderrTail, /REDACTABLE/);
});

it('a turn that ends well has neither', async () => {
  const client = await AcpClient.launch({ ...script(turn([...told, say('x')])), cwd, env: {} });
  const session = await client.newSession();
  const result = await session.prompt('p');
  assert.equal('stderrTail' in result, false);
  await client.close();
});
