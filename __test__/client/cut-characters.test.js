'use strict';

// A character that the agent cut in half between two chunks is whole again, wherever the cuts are; a half that stays alone
// is U+FFFD, as JavaScript shows it when it is encoded.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { end, initialize, scripted } = require('../support/scripted.js');

/** @param {string} text @param {object} [more] @param {string} [sessionId] */
function chunk(text, more = {}, sessionId = 's1') {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more };
  return { jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } };
}

const THOUGHT = { sessionUpdate: 'agent_thought_chunk' };
const TOOL = { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T' } } };

/**
 * Runs one turn in which the agent writes these frames.
 *
 * @param {object[]} frames
 * @param {object[]} [before] In one piece with the answer that opens the session, ahead of it.
 */
async function turn(frames, before = []) {
  // Frames may hold braces of their own: nothing in them is for the fake agent to fill in.
  const lines = (/** @type {object[]} */ list) => ({ do: 'raw', text: list.map((frame) => `${JSON.stringify(frame)}\n`).join(''), literal: true });
  const client = await scripted([
    initialize({}),
    { do: 'expect', method: 'session/new' },
    ...(before.length > 0 ? [lines(before)] : []),
    { do: 'respond', result: { sessionId: 's1' } },
    { do: 'expect', method: 'session/prompt' },
    lines(frames),
    { do: 'respond', result: { stopReason: 'end_turn' } },
  ]);
  const session = await client.newSession();
  const updates = session.updates();
  const running = session.prompt('x');
  /** @type {any[]} */
  const events = [];
  for await (const event of running) events.push(event);
  const { text } = await running;
  const { messages } = /** @type {any} */ (session.state);
  const early = before.length > 0 ? /** @type {any} */ ((await updates.next()).value) : undefined;
  await end(client);
  return { text, events, messages, early, texts: events.map((event) => event.content?.text) };
}

test('two halves are one character, in text, events and state', async () => {
  const { text, texts, messages } = await turn([chunk('a\ud83d'), chunk('\ude80b')]);
  assert.equal(text, 'a🚀b');
  assert.deepEqual(texts, ['a', '🚀b']);
  assert.equal(messages[0].content?.[0]?.text ?? messages[0].text, 'a🚀b');
});

test('a chunk of nothing but a half', async () => {
  assert.deepEqual((await turn([chunk('\ud83d'), chunk('\ude80')])).texts, ['🚀']);
  assert.deepEqual((await turn([chunk('🚀\ud83d'), chunk('\ude80\ud83d'), chunk('\ude80')])).text, '🚀🚀🚀');
});

test('a half that stays alone', async () => {
  const alone = /** @type {const} */ ({
    'at the end of the turn': [[chunk('a\ud83d')], 'a\ufffd'],
    'before other text': [[chunk('a\ud83d'), chunk('b')], 'a\ufffdb'],
    'before another first half': [[chunk('a\ud83d'), chunk('\ud83d'), chunk('\ude80')], 'a\ufffd🚀'],
    'a second one first': [[chunk('\ude80a')], '\ufffda'],
    'before another kind of update': [[chunk('a\ud83d'), TOOL, chunk('\ude80')], 'a\ufffd\ufffd'],
    'before another stream': [[chunk('a\ud83d'), chunk('\ude80', THOUGHT)], 'a\ufffd'],
    'before another message': [[chunk('a\ud83d', { messageId: 'm1' }), chunk('\ude80', { messageId: 'm2' })], 'a\ufffd\ufffd'],
    'in the middle': [[chunk('a\ud83db\ude80c')], 'a\ufffdb\ufffdc'],
  });
  for (const [where, [frames, expected]] of Object.entries(alone)) {
    assert.equal((await turn([...frames])).text, expected, where);
  }
});

test('the half comes before what follows it', async () => {
  const { events } = await turn([chunk('a\ud83d'), TOOL]);
  assert.deepEqual(events.map(({ type, content }) => content?.text ?? type), ['a', '\ufffd', 'tool_call']);
});

test('thoughts and messages with an id are no different', async () => {
  const { events, text } = await turn([
    chunk('t\ud83d', THOUGHT), chunk('\ude80', THOUGHT),
    chunk('a\ud83d', { messageId: 'm' }), chunk('\ude80', { messageId: 'm' }),
  ]);
  assert.equal(text, 'a🚀');
  assert.deepEqual(events.map(({ content, messageId }) => [content.text, messageId]), [['t', undefined], ['🚀', undefined], ['a', 'm'], ['🚀', 'm']]);
});

test('sessions do not mix', async () => {
  const other = (/** @type {string} */ text) => chunk(text, {}, 's2');
  const { text } = await turn([chunk('a\ud83d'), other('\ude80'), chunk('\ude80b')]);
  assert.equal(text, 'a🚀b');
});

test('what comes before its session is known is joined, too', async () => {
  const { early, text } = await turn([chunk('x')], [chunk('\ud83d'), chunk('\ude80')]);
  assert.deepEqual([early.content.text, text], ['🚀', 'x']);
});

test('a chunk that says more than its text is shown as it came', async () => {
  const { events } = await turn([chunk('a\ud83d', { _meta: { x: 1 } }), chunk('\ude80')]);
  assert.deepEqual(events.map(({ content }) => content.text), ['a\ufffd', '\ufffd']);
});

test('any text cut anywhere comes back as it was', async () => {
  const alphabet = ['a', '🚀', '\\', '"', 'é', '中', '👩‍👩‍👧', '\n', '\ud83d', '\udc00', 'u', 'd83d'];
  // A small generator with a fixed seed, so that a failure can be repeated.
  let seed = 42;
  const random = (/** @type {number} */ below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 12; round++) {
    const whole = Array.from({ length: 200 }, () => alphabet[random(alphabet.length)]).join('');
    const frames = [];
    for (let at = 0; at < whole.length; ) {
      const to = at + 1 + random(4);
      frames.push(chunk(whole.slice(at, to)));
      at = to;
    }
    const { text, texts } = await turn(frames);
    assert.equal(text, whole.toWellFormed(), `round ${round}`);
    assert.equal(texts.join(''), whole.toWellFormed(), `round ${round}`);
  }
});
