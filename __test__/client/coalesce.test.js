'use strict';

// Adjacent deltas of one message may come as one event; nothing else changes.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { end, scripted } = require('../support/scripted.js');

const STEPS = [
  { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
  { do: 'flood', count: 3000, update: { sessionUpdate: 'agent_message_chunk', messageId: 'a', content: { type: 'text', text: '{i}é ' } } },
  { do: 'flood', count: 3000, update: { sessionUpdate: 'agent_message_chunk', messageId: 'b', content: { type: 'text', text: '{i}🚀 ' } } },
  { do: 'flood', count: 3000, update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: '{i}? ' } } },
  { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T' } },
  { do: 'text', text: 'last' },
  { do: 'prompt_end' },
];

/** @param {boolean} coalesce */
async function run(coalesce) {
  const client = await scripted(STEPS);
  const session = await client.newSession({ coalesce });
  /** @type {any[]} */
  const events = [];
  const turn = session.prompt('x');
  for await (const event of turn) events.push(event);
  const { text } = await turn;
  await end(client);
  /** Runs of one kind and message, with their text. @type {Array<[string, string]>} */
  const runs = [];
  for (const event of events) {
    const key = `${event.type} ${event.messageId ?? ''}`;
    const last = runs.at(-1);
    if (last?.[0] === key) last[1] += event.content?.text ?? '';
    else runs.push([key, event.content?.text ?? '']);
  }
  return { count: events.length, runs, text };
}

test('coalesced deltas say the same in fewer events', async () => {
  const plain = await run(false);
  const joined = await run(true);
  assert.equal(plain.count, 9002);
  assert.ok(joined.count < plain.count / 4, `${joined.count} events`);
  assert.deepEqual(joined.runs, plain.runs);
  assert.equal(joined.text, plain.text);
});
