'use strict';

// What an agent says of a session before its host could listen is not lost: it comes first in the first `updates()`.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, initialize, scripted } = require('../support/scripted.js');

/** @typedef {import('../support/fake-agent.js').Step} Step */

/** @param {string} text @param {string} [sessionId] */
function chunk(text, sessionId = 's1') {
  return { jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } };
}

/** @param {object} update */
function update(update) {
  return { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update } };
}

const COMMANDS = update({ sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'a', description: 'd' }] });
const MODE = update({ sessionUpdate: 'current_mode_update', currentModeId: 'b' });
const MODES = { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] };
const DONE = answered('_test/done');
const TURN = [{ do: 'prompt_begin', sessionId: 's1' }, { do: 'text', text: 'answer' }, { do: 'prompt_end' }];

/**
 * Opens a session; the agent writes these frames in one piece, where `null` stands for its answer.
 *
 * @param {Array<object | null>} frames
 * @param {Step[]} [more]
 * @param {object} [result]
 */
async function opened(frames, more = [...DONE, ...TURN], result = {}) {
  const lines = frames.map((frame) =>
    frame === null ? `{"jsonrpc":"2.0","id":{{new.id}},"result":${JSON.stringify({ sessionId: 's1', ...result })}}` : JSON.stringify(frame));
  const client = await scripted([
    initialize({}),
    { do: 'expect', method: 'session/new', as: 'new' },
    { do: 'raw', text: `${lines.join('\n')}\n` },
    ...more,
  ]);
  return { client, session: await client.newSession() };
}

/** All that an iterator gives until its end. @param {AsyncIterable<any>} updates */
async function all(updates) {
  const events = [];
  // Who only listens does not keep Node alive.
  const ended = gate();
  for await (const event of updates) events.push(event);
  ended.open();
  return events;
}

/** @param {any} event */
const brief = ({ type, sessionId, content }) => (content ? `${sessionId} ${content.text}` : `${sessionId} ${type}`);

for (const [where, frames] of /** @type {const} */ ([
  ['before the answer that opens it', [COMMANDS, chunk('early'), null]],
  ['in one write with that answer', [null, COMMANDS, chunk('early')]],
  ['on both sides of it', [COMMANDS, null, chunk('early')]],
])) {
  test(`what a session says ${where} comes first`, async () => {
    const { client, session } = await opened([...frames]);
    await client.request('_test/done');
    const updates = session.updates();
    const others = session.updates();
    await session.prompt('x');
    await end(client);
    const events = await all(updates);
    assert.deepEqual(events.map(brief), ['s1 available_commands_update', 's1 early', 's1 answer']);
    assert.ok(events.every((event) => event.late === undefined && event.replay === undefined));
    // Whoever listens as well gets what comes from now on.
    assert.deepEqual((await all(others)).map(brief), ['s1 answer']);
  });
}

test('a host that is quick gets the same', async () => {
  const { client, session } = await opened([COMMANDS, null, chunk('early')], TURN);
  const updates = session.updates();
  await session.prompt('x');
  await end(client);
  assert.deepEqual((await all(updates)).map(brief), ['s1 available_commands_update', 's1 early', 's1 answer']);
});

test('it waits for a host that is not quick', async () => {
  const { client, session } = await opened([null, COMMANDS], [{ do: 'send', value: chunk('later') }, ...DONE, ...TURN]);
  await client.request('_test/done');
  const updates = session.updates();
  await session.prompt('x');
  await end(client);
  assert.deepEqual((await all(updates)).map(brief), ['s1 available_commands_update', 's1 later', 's1 answer']);
});

test('a host that prompts first has no use for it', async () => {
  const { client, session } = await opened([null, COMMANDS, chunk('early')]);
  await client.request('_test/done');
  const turn = session.prompt('x');
  const updates = session.updates();
  assert.deepEqual((await all(turn)).map(brief), ['s1 answer']);
  await end(client);
  assert.deepEqual((await all(updates)).map(brief), ['s1 answer']);
});

test('a host that left before the first prompt is told nothing twice', async () => {
  const { client, session } = await opened([null, COMMANDS, chunk('early')]);
  await client.request('_test/done');
  for await (const event of session.updates()) {
    assert.equal(event.type, 'available_commands_update');
    break;
  }
  const updates = session.updates();
  await session.prompt('x');
  await end(client);
  assert.deepEqual((await all(updates)).map(brief), ['s1 answer']);
});

test('the agent may be gone by then', async () => {
  const { client, session } = await opened([null, chunk('last words')], [{ do: 'exit', code: 3 }]);
  const over = gate();
  void client.closed.then(over.open);
  await over.opened;
  assert.deepEqual((await all(session.updates())).map(brief), ['s1 last words']);
  await client.close();
});

test('a session that was closed by its host has nothing to say', async () => {
  const { client, session } = await opened([null, COMMANDS], []);
  await session.close();
  assert.deepEqual(await all(session.updates()), []);
  await client.close();
});

test('it is the newest that is kept, within a bound of events', async () => {
  const many = Array.from({ length: 300 }, (_, i) => chunk(`${i}`));
  const { client, session } = await opened([...many, null]);
  await client.request('_test/done');
  const updates = session.updates();
  await session.prompt('x');
  await end(client);
  const texts = (await all(updates)).map((event) => event.content.text);
  assert.deepEqual(texts, [...Array.from({ length: 256 }, (_, i) => `${i + 44}`), 'answer']);
});

test('and of text', async () => {
  const { client, session } = await opened([null, ...['a', 'b', 'c'].map((letter) => chunk(letter.repeat(400_000)))]);
  await client.request('_test/done');
  const updates = session.updates();
  await session.prompt('x');
  await end(client);
  assert.deepEqual((await all(updates)).map((event) => event.content.text[0]), ['b', 'c', 'a']);
});

test('history is no part of it', async () => {
  const client = await scripted([
    initialize({ loadSession: true }),
    { do: 'expect', method: 'session/load' },
    { do: 'send', value: chunk('history') },
    { do: 'send', value: MODE },
    { do: 'respond', to: 'session/load', result: {} },
    ...DONE,
    ...TURN,
  ]);
  const session = await client.loadSession('s1');
  await client.request('_test/done');
  const updates = session.updates();
  await session.prompt('x');
  await end(client);
  assert.deepEqual((await all(updates)).map(brief), ['s1 answer']);
});

test('the mode that a session is told in one write with its modes holds', async () => {
  const { client, session } = await opened([null, MODE], [...DONE, ...TURN], { modes: MODES });
  await client.request('_test/done');
  assert.equal(session.modes?.currentModeId, 'b');
  await session.prompt('x');
  await end(client);
});
