'use strict';

// An answer that a limit of the runtime cut may begin with an example of the verdict and end with another one: nothing is
// taken from it, on any way to it.

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { AcpClient, AcpRuntimeAdapter, askAcpOnce, runCliAgentValidation } = require('../..');
const { adapter, cwd, say, script, settings, turn } = require('./agent.js');

const EXAMPLE = 'Answer like this: {"verdict":"pass"}\n';
const VERDICT = '\n{"verdict":"fail","summary":"broken"}';
/** Neither fails nor is blocked, and holds no JSON. */
const FILLER = 'words and more words. ';
const filler = (/** @type {number} */ units) => FILLER.repeat(Math.ceil(units / FILLER.length));

/** A chunk that says more than its text. @param {string} text */
const rich = (text) => ({
  do: 'update',
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text, annotations: { priority: 1 } } },
});

const CHUNK = [say(`${EXAMPLE}${filler(80_000)}${VERDICT}`)];
const TURN = [say(EXAMPLE), { do: 'text', text: filler(60_000), n: 90 }, say(VERDICT)];
/** One above the default limit of a line, which is dropped whole. */
const LINE = [
  say(EXAMPLE),
  {
    do: 'raw',
    literal: true,
    chunks: [
      { text: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
        + '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"' },
      { text: filler(60_000), repeat: 1200 },
      { text: `${JSON.stringify(VERDICT).slice(1, -1)}"}}}}\n` },
    ],
  },
];

class Subclass extends AcpRuntimeAdapter {}

const MODEL = { id: 'm', name: 'm', category: 'model', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'a' }, { value: 'b', name: 'b' }] };
/** @param {any[]} steps The same agent, which has a model chosen in the session. */
const withModel = (steps) => [
  { do: 'initialize' }, { do: 'session_new', result: { configOptions: [MODEL] } },
  { do: 'expect', method: 'session/set_config_option' }, { do: 'respond', result: { configOptions: [] } },
  { do: 'prompt_begin' }, ...steps, { do: 'prompt_end' },
];

/** @type {Array<[string, (steps: any[], more?: object) => Promise<import('../../types/ask').AskAcpOnceResult>]>} */
const WAYS = [
  ['natively', (steps) => askAcpOnce(adapter(turn(steps)), { prompt: 'p', cwd, recoverJson: true })],
  ['with a subclass', (steps) => askAcpOnce(new Subclass(settings(turn(steps))), { prompt: 'p', cwd, recoverJson: true })],
  ['with a model of the session', (steps) => askAcpOnce(adapter(withModel(steps)), { prompt: 'p', cwd, model: 'b', recoverJson: true })],
];

for (const [what, steps] of /** @type {const} */ ([['chunk', CHUNK], ['turn', TURN], ['line', LINE]])) {
  describe(`an answer cut at the limit of a ${what}`, () => {
    for (const [how, ask] of WAYS) {
      it(`says so and has nothing parsed, asked ${how}`, async () => {
        const answer = await ask([...steps]);
        assert.ok(answer.ok, JSON.stringify(answer).slice(0, 400));
        assert.equal(answer.truncated, true);
        assert.ok(!('parsed' in answer));
        assert.ok(answer.text.startsWith('Answer like this'));
      });
    }

    it('never passes a validation', async () => {
      const options = { prompt: 'p', cwd };
      for (const runtime of [adapter(turn([...steps])), new Subclass(settings(turn([...steps])))]) {
        const verdict = await runCliAgentValidation(runtime, options);
        assert.equal(verdict.status, 'error');
        assert.match(verdict.summary, /^The validator answered more than is kept/);
        assert.ok(verdict.summary.length < 5000);
      }
    });
  });
}

describe('a cut answer', () => {
  it('can still fail in prose', async () => {
    const verdict = await runCliAgentValidation(adapter(turn([say(`This does not pass.${filler(80_000)}`)])), { prompt: 'p', cwd });
    assert.equal(verdict.status, 'fail');
  });

  it('is told by the result of a typed turn, whatever kind of chunk was cut', async () => {
    for (const [steps, expected] of [[[say('all of it')], false], [[rich(filler(80_000))], true], [LINE, true], [TURN, true]]) {
      const client = await AcpClient.launch({ ...script(turn([.../** @type {any[]} */ (steps)])), cwd, env: {} });
      const session = await client.newSession();
      assert.equal((await session.prompt('p')).textTruncated, expected);
      await client.close();
    }
  });

  it('is the text of the message alone: thinking and tools may be cut', async () => {
    const thought = { do: 'text', text: filler(80_000), kind: 'agent_thought_chunk' };
    const tool = { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'x', rawInput: { text: filler(400_000) } } };
    const answer = await WAYS[0][1]([thought, tool, say('{"verdict":"pass"}')]);
    assert.deepEqual(answer, { ok: true, text: '{"verdict":"pass"}', parsed: { verdict: 'pass' }, stopReason: 'end_turn' });
  });

  it('is told by a session of the adapter', async () => {
    const runtime = adapter(turn([...CHUNK]));
    const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
    assert.deepEqual(await runtime.promptWithFallback(session, 'p'), { stopReason: 'end_turn', truncated: true });
    await runtime.dispose(session);
  });
});
