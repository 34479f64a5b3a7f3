'use strict';

// What an agent repeats while it reopens a session is history: told as such, in no turn's text, and left out on demand.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { end, initialize, scripted } = require('../support/scripted.js');

const ABLE = { loadSession: true, sessionCapabilities: { resume: {}, fork: {} } };

/** @param {string} kind @param {string} text */
function chunk(kind, text) {
  return { do: 'update', sessionId: 'old', update: { sessionUpdate: kind, content: { type: 'text', text } } };
}

/** @param {string} method */
function steps(method) {
  return [
    initialize(ABLE),
    { do: 'expect', method },
    chunk('user_message_chunk', 'old q'), chunk('agent_message_chunk', 'old a'), chunk('agent_thought_chunk', 'old t'),
    { do: 'update', sessionId: 'old', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T' } },
    { do: 'update', sessionId: 'old', update: { sessionUpdate: 'current_mode_update', currentModeId: 'b' } },
    { do: 'update', sessionId: 'old', update: { sessionUpdate: 'available_commands_update', availableCommands: [] } },
    { do: 'respond', to: method, result: { sessionId: 'old', modes: { currentModeId: 'b', availableModes: [{ id: 'b', name: 'B' }] } } },
    { do: 'prompt_begin', sessionId: 'old' }, { do: 'text', text: 'new a' }, { do: 'prompt_end' },
  ];
}

const HISTORY = ['user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk', 'tool_call'];
const STANDING = ['current_mode_update', 'available_commands_update'];

for (const [method, open] of /** @type {const} */ ([
  ['session/load', 'loadSession'], ['session/resume', 'resumeSession'], ['session/fork', 'forkSession'],
])) {
  for (const replay of [undefined, true, false]) {
    test(`${open} with replay ${replay} tells what is repeated as history`, async () => {
      const client = await scripted(steps(method));
      /** @type {any[]} */
      const repeated = [];
      const session = await client[open]('old', { replay, onReplay: (event) => void repeated.push(event) });
      const turn = session.prompt('go');
      const events = [];
      for await (const event of turn) events.push([event.type, event.replay]);
      assert.equal((await turn).text, 'new a');
      await end(client);
      assert.deepEqual(repeated.map(({ type }) => type), replay === false ? STANDING : [...HISTORY, ...STANDING]);
      assert.ok(repeated.every((event) => event.replay === true && event.sessionId === 'old'));
      assert.deepEqual(events, [['agent_message_chunk', undefined]]);
      assert.equal(session.modes?.currentModeId, 'b');
      const marks = session.state?.messages.map((message) => message.replay);
      assert.deepEqual(marks, [true, true, true, undefined]);
    });
  }

  test(`what ${open} repeats is in the state, also when nobody listens`, async () => {
    const client = await scripted(steps(method));
    const session = await client[open]('old');
    assert.equal((await session.prompt('go')).text, 'new a');
    assert.deepEqual(session.state?.messages.map(({ role }) => role), ['user', 'agent', 'thought', 'agent']);
    assert.equal(session.state?.toolCalls[0].replay, true);
    await end(client);
  });
}
