'use strict';

// Events that nobody takes hold the agent back. They never hold back the end of a turn that the host has ended.

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { end, gate, scripted } = require('../support/scripted.js');

/** More than a consumer holds before it presses. */
const MANY = 3000;
/** @type {any} */
const FLOOD = {
  do: 'flood', count: MANY, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '{i} ' } },
};
const GO = { do: 'notify', method: '_test/go' };

/**
 * @typedef {import('../../types/client').AcpSession} AcpSession
 * @typedef {import('../../types/client').PromptTurn} PromptTurn
 */

/** Consumers that take one event and go away without a word. @type {Record<string, (session: AcpSession, turn: PromptTurn) => AsyncIterator<any>>} */
const CONSUMERS = {
  'of the turn': (_, turn) => turn[Symbol.asyncIterator](),
  'of the session': (session) => session.updates(),
};

/** What ends a turn from here. @type {Record<string, { options?: object, launch?: object, end: (session: AcpSession, turn: PromptTurn, abort: () => void) => unknown, code?: string }>} */
const ENDS = {
  'its cancel': { end: (_, turn) => turn.cancel() },
  'a cancel of the session': { end: (session) => session.cancel() },
  'its signal': { end: (_, turn, abort) => abort() },
  'its limit': { options: { timeoutMs: 300 }, end: () => {}, code: 'timeout' },
  'a new turn in its place': { end: (session) => void session.interruptWith('next').catch(() => {}) },
  'the close of the session': { end: (session) => session.close() },
};

for (const [whose, consume] of Object.entries(CONSUMERS)) {
  describe(`a turn ends although nobody takes the events ${whose}`, () => {
    for (const [how, { options = {}, end: stop, code }] of Object.entries(ENDS)) {
      test(`by ${how}`, async () => {
        const flooded = gate();
        const client = await scripted(
          [{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, FLOOD, GO, { do: 'expect_eof' }],
          { cancelGraceMs: 50, onExtNotification: flooded.open },
        );
        const session = await client.newSession();
        const controller = new AbortController();
        const turn = session.prompt('x', { ...options, signal: controller.signal });
        const iterator = consume(session, turn);
        assert.equal((await iterator.next()).done, false);
        await flooded.opened;
        await stop(session, turn, () => controller.abort());
        const outcome = await turn.then((result) => result.stopReason, (error) => error.code);
        assert.equal(outcome, code ?? 'cancelled');
        // What was held is still there for one who comes back.
        assert.equal((await iterator.next()).done, false);
        await client.close({ graceMs: 0 });
      });
    }
  });
}

test('a turn that the agent has ended is told when its session is cancelled or closed, whoever is behind', async () => {
  for (const how of /** @type {const} */ (['cancel', 'close'])) {
    const answered = gate();
    const client = await scripted(
      [{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, FLOOD, { do: 'prompt_end' }, GO, { do: 'expect_eof' }],
      { onExtNotification: answered.open },
    );
    const session = await client.newSession();
    const turn = session.prompt('x');
    const iterator = turn[Symbol.asyncIterator]();
    await iterator.next();
    await answered.opened;
    await session[how]();
    const { stopReason, text } = await turn;
    assert.equal(stopReason, 'end_turn');
    assert.equal(text, Array.from({ length: MANY }, (_, i) => `${i} `).join(''));
    await end(client);
  }
});

test('a session that is being closed takes no turn, and is closed once', async () => {
  const client = await scripted([
    { do: 'initialize', result: { agentCapabilities: { sessionCapabilities: { close: {} } } } },
    { do: 'session_new' }, { do: 'prompt_begin' },
    { do: 'expect', method: 'session/cancel' }, { do: 'sleep', ms: 30 }, { do: 'prompt_end', stopReason: 'cancelled' },
    { do: 'expect', method: 'session/close' }, { do: 'respond', result: {} },
    { do: 'expect_eof' },
  ]);
  const session = await client.newSession();
  const turn = session.prompt('x');
  const closes = [session.close(), session.close()];
  await assert.rejects(session.prompt('y'), { code: 'session_unusable' });
  await assert.rejects(session.interruptWith('y'), { code: 'session_unusable' });
  await Promise.all(closes);
  assert.equal((await turn).stopReason, 'cancelled');
  await session.close();
  await end(client);
});

test('a consumer that ends frees the next turn, and one that is replaced frees its own', async () => {
  const turnOf = [{ do: 'prompt_begin' }, FLOOD, { do: 'prompt_end' }];
  const client = await scripted([{ do: 'initialize' }, { do: 'session_new' }, ...turnOf, ...turnOf]);
  const session = await client.newSession();
  const first = session.prompt('x');
  const left = first[Symbol.asyncIterator]();
  await left.next();
  let count = 0;
  // The second consumer gets what comes from now on.
  const taken = (async () => {
    for await (const _ of first) count += 1;
  })();
  await first;
  await taken;
  assert.ok(count > 0 && count < MANY, `${count} events`);
  assert.equal((await session.prompt('y')).text.length, Array.from({ length: MANY }, (_, i) => `${i} `).join('').length);
  await end(client);
});

const DELETES = { do: 'initialize', result: { agentCapabilities: { sessionCapabilities: { delete: {} } } } };

test('turns of a session that is deleted end with it, those that run and those that wait', async () => {
  const steps = [DELETES, { do: 'session_new' }, { do: 'prompt_begin' }, FLOOD, { do: 'expect', method: 'session/delete' }, { do: 'respond', to: 'session/delete', result: {} }];
  for (const consumer of [undefined, ...Object.values(CONSUMERS)]) {
    const client = await scripted(steps);
    const session = await client.newSession({ queue: true });
    const turns = [session.prompt('x'), session.prompt('y')];
    const ends = turns.map((turn) => assert.rejects(Promise.resolve(turn), { code: 'session_unusable' }));
    await consumer?.(session, turns[0]).next();
    await client.deleteSession(session.id);
    await Promise.all(ends);
    await end(client);
  }
});

test('a turn that begins while its session is deleted ends, too', async () => {
  for (let round = 0; round < 20; round++) {
    const steps = [DELETES, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'expect', method: 'session/delete' }, { do: 'respond', to: 'session/delete', result: {} }];
    const client = await scripted(steps);
    const session = await client.newSession({ queue: true });
    const settled = (/** @type {PromiseLike<any>} */ turn) => Promise.resolve(turn).then(() => 'fulfilled', (error) => error.code);
    // The second begins when the first has run out of time: about when the answer comes.
    const turns = [session.prompt('x', { timeoutMs: 1 + (round % 5) }), session.prompt('y'), session.prompt('z')].map(settled);
    const deleted = client.deleteSession(session.id).then(() => {}, () => {});
    for (const end of await Promise.all(turns)) assert.ok(['timeout', 'session_unusable', 'client_closed'].includes(end), end);
    await deleted;
    await client.close({ graceMs: 0 });
  }
});
