'use strict';

// The command line on a terminal: no agent steers it, whatever it says and wherever.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { main } = require('../../lib/cli');
const { CONTROL, world } = require('../support/terminal.js');
const { script } = require('../support/fake-agent.js');

const HOSTILE = '\u001b[31mX\u009b31mY\u0007\r\u009d\u202e\u2066';
const method = { id: `a${HOSTILE}`, name: HOSTILE, description: HOSTILE };
const initialize = { do: 'initialize', result: { agentInfo: { name: HOSTILE, version: HOSTILE }, authMethods: [method] } };
const begin = [initialize, { do: 'session_new' }, { do: 'prompt_begin' }];
const said = [
  { do: 'text', text: `words ${HOSTILE}` },
  { do: 'update', update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: HOSTILE } } },
  { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: HOSTILE } },
  { do: 'update', update: { sessionUpdate: 'plan', entries: [{ content: HOSTILE, status: '__proto__' }] } },
  { do: 'update', update: { sessionUpdate: 'agent_message_chunk', content: { type: HOSTILE } } },
  { do: 'raw', text: `noise ${HOSTILE}\n`, literal: true },
  { do: 'stderr', text: `${HOSTILE}\n` },
];

/** @type {Record<string, import('../support/fake-agent').Step[]>} */
const agents = {
  answers: [...begin, ...said, { do: 'prompt_end' }],
  'ends oddly': [...begin, ...said, { do: 'prompt_end', stopReason: HOSTILE }],
  fails: [...begin, ...said, { do: 'respond', error: { code: -1, message: HOSTILE, data: { a: HOSTILE } } }],
  dies: [...begin, ...said, { do: 'exit', code: 3 }],
  'wants a login': [initialize, { do: 'expect', method: 'session/new' }, { do: 'respond', error: { code: -32000, message: HOSTILE, data: HOSTILE } }],
  'speaks another version': [{ do: 'expect', method: 'initialize' }, { do: 'respond', result: { protocolVersion: HOSTILE } }],
};

for (const [name, steps] of Object.entries(agents)) {
  test(`an agent that ${name}`, async () => {
    const { command, args } = script(steps);
    for (const words of [['ask', '-v'], ['ask', '--json'], ['trace', '-v'], ['probe'], ['probe', '--json'], ['login', '--list'], ['login', '--method', 'x']]) {
      const prompt = ['ask', 'trace'].includes(words[0]) ? ['question'] : [];
      const { screen } = await world(main, [...words, '--cmd', command, ...prompt, '--', ...args]);
      for (const [stream, text] of Object.entries(screen)) {
        const at = text.search(CONTROL);
        assert.equal(at, -1, `${words.join(' ')} wrote to ${stream}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))}`);
      }
      assert.notEqual(screen.stdout + screen.stderr, '');
    }
  });
}

test('what is recorded on a terminal is the same JSON', async () => {
  const { command, args } = script(agents.answers);
  const { screen, code } = await world(main, ['trace', '--cmd', command, 'question', '--', ...args]);
  assert.equal(code, 0);
  const lines = screen.stdout.trim().split('\n').map((line) => JSON.parse(line));
  const texts = lines.map(({ frame }) => frame?.params?.update?.content?.text).filter(Boolean);
  assert.deepEqual(texts, [`words ${HOSTILE}`, HOSTILE]);
});
