'use strict';

// A session has one owner: who opens it again is refused, and the end of one opening never takes away what another opened.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, initialize, scripted } = require('../support/scripted.js');

const ABLE = { loadSession: true, sessionCapabilities: { resume: {}, close: {}, delete: {} } };
const DONE = answered('_test/done');
const TURN = [{ do: 'prompt_begin', sessionId: 's9' }, { do: 'text', text: 'hi' }, { do: 'prompt_end' }];
/** @type {Array<'loadSession' | 'resumeSession'>} */
const WAYS = ['loadSession', 'resumeSession'];
const METHODS = { loadSession: 'session/load', resumeSession: 'session/resume' };

for (const first of WAYS) {
  for (const second of WAYS) {
    test(`${second} of a session that ${first} opens, or has opened, is refused and changes nothing`, async () => {
      const sent = gate();
      const client = await scripted(
        [
          initialize(ABLE), { do: 'expect', method: METHODS[first], as: 'open' }, { do: 'notify', method: '_test/go' },
          ...DONE, { do: 'respond', to: 'open', result: {} }, ...TURN, ...DONE, ...TURN,
        ],
        { onExtNotification: sent.open },
      );
      const opening = client[first]('s9');
      await sent.opened;
      const controller = new AbortController();
      const refused = assert.rejects(client[second]('s9', { signal: controller.signal }), { code: 'session_already_open' });
      await refused;
      controller.abort();
      await client.request('_test/done');
      const session = await opening;
      assert.equal((await session.prompt('x')).text, 'hi');
      await assert.rejects(client[second]('s9'), { code: 'session_already_open', phase: 'session' });
      await client.request('_test/done');
      assert.equal((await session.prompt('x')).text, 'hi');
      await end(client);
    });
  }
}

test('of two at the same time the aborted first leaves the way free, and nothing of it is left', async () => {
  const sent = gate();
  const client = await scripted(
    [
      initialize(ABLE),
      { do: 'expect', method: 'session/load', as: 'first' },
      { do: 'notify', method: '_test/go' },
      { do: 'expect', method: '$/cancel_request' },
      { do: 'expect', method: 'session/resume', as: 'second' },
      { do: 'respond', to: 'first', error: { code: -32800, message: 'cancelled' } },
      { do: 'respond', to: 'second', result: {} },
      ...TURN,
    ],
    { onExtNotification: sent.open },
  );
  const controller = new AbortController();
  const first = client.loadSession('s9', { signal: controller.signal });
  await sent.opened;
  await assert.rejects(client.resumeSession('s9'), { code: 'session_already_open' });
  controller.abort();
  const second = client.resumeSession('s9');
  await assert.rejects(first, { name: 'AbortError' });
  assert.equal((await (await second).prompt('x')).text, 'hi');
  await end(client);
});

test('a session that was closed or deleted can be opened again, and its former owner takes nothing from the new one', async () => {
  const client = await scripted([
    initialize(ABLE), ...answered('session/load'), ...answered('session/close'), ...answered('session/load'),
    ...answered('session/delete'), ...answered('session/load'), ...TURN, ...DONE,
  ]);
  const closed = await client.loadSession('s9');
  await closed.close();
  const deleted = await client.loadSession('s9');
  await client.deleteSession('s9');
  await assert.rejects(deleted.prompt('x'), { code: 'session_unusable' });
  const session = await client.loadSession('s9');
  // Idempotent: nothing reaches the agent.
  await closed.close();
  await deleted.close();
  assert.equal((await session.prompt('x')).text, 'hi');
  await client.request('_test/done');
  await end(client);
});

test('an agent that gives an id to two sessions: the end of the first is not the end of the second', async () => {
  const client = await scripted([
    initialize({}), { do: 'session_new', sessionId: 's9' }, { do: 'session_new', sessionId: 's9' }, ...TURN,
  ]);
  const first = await client.newSession();
  const second = await client.newSession();
  await first.close();
  assert.equal((await second.prompt('x')).text, 'hi');
  await end(client);
});
