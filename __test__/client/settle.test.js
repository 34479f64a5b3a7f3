'use strict';

// A turn that waits for what the agent says after its answer.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { scripted, end } = require('../support/scripted.js');

const CHATTY = /** @type {import('../support/fake-agent.js').Step[]} */ ([
  { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'text', text: 'now' }, { do: 'prompt_end' },
  { do: 'loop', until: { method: '_test/done' }, delayMs: 5, steps: [{ do: 'text', text: '.' }] },
  { do: 'expect', method: '_test/done' },
]);

test('what the agent says until it is quiet belongs to the turn', async () => {
  const client = await scripted([
    { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'text', text: 'now' }, { do: 'prompt_end' },
    { do: 'sleep', ms: 30 }, { do: 'text', text: ' late' },
  ]);
  const session = await client.newSession();
  const turn = session.prompt('x', { settleMs: 2_000 });
  let text = '';
  for await (const event of turn) {
    if (event.type === 'agent_message_chunk' && event.content.type === 'text') text += event.content.text;
  }
  assert.deepEqual([text, (await turn).text], ['now late', 'now late']);
  await end(client);
});

/** @type {Array<[string, object, (turn: import('../../types/client').PromptTurn, session: import('../../types/client').AcpSession) => Promise<unknown>]>} */
const WAYS = [
  ['its time limit', { timeoutMs: 3_000 }, async () => {}],
  ['turn.cancel()', {}, (turn) => turn.cancel()],
  ['session.cancel()', {}, async (_, session) => assert.deepEqual(await session.cancel(), { state: 'cancelled' })],
  ['session.close()', {}, (_, session) => session.close()],
];

for (const [name, limits, way] of WAYS) {
  test(`an agent that never falls quiet: ${name} ends the turn with the answer`, async () => {
    const client = await scripted(CHATTY);
    const session = await client.newSession();
    const turn = session.prompt('x', { settleMs: 60_000, ...limits });
    await turn[Symbol.asyncIterator]().next();
    // One line after the answer: the turn is settling.
    while (client.diagnostics().messagesReceived < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    await way(turn, session);
    const result = await turn;
    assert.deepEqual([result.stopReason, result.forced], ['end_turn', false]);
    assert.ok(result.text.startsWith('now'));
    client.notify('_test/done', {});
    await end(client);
  });
}
