'use strict';

// After the host has closed or killed a client, that is what calls fail with; not that the agent ended.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { killAllProcesses } = require('../..');
const { end, gate, initialize, scripted } = require('../support/scripted.js');

const PENDING = [
  initialize({ sessionCapabilities: { list: {} } }),
  { do: 'session_new' },
  { do: 'prompt_begin' },
  { do: 'expect', method: '_x/y' },
  { do: 'notify', method: '_test/go' },
  { do: 'expect_eof' },
];

for (const [name, leave] of /** @type {Array<[string, (client: import('../../types/client').AcpClient) => unknown]>} */ ([
  ['closed', (client) => client.close()],
  ['killed', (client) => client.kill()],
  ['killed with all others', () => killAllProcesses()],
])) {
  test(`what waits when a client is ${name}, and what comes later, fails with client_closed`, async () => {
    const sent = gate();
    const client = await scripted(PENDING, { onExtNotification: sent.open });
    const session = await client.newSession();
    const turn = session.prompt('x');
    const turnEnd = turn.then(
      (result) => assert.deepEqual([result.stopReason, result.cancelRequested], ['cancelled', true]),
      (error) => assert.equal(error.code, 'client_closed'),
    );
    const call = assert.rejects(client.request('_x/y'), { code: 'client_closed' });
    await sent.opened;
    await leave(client);
    await Promise.all([turnEnd, call]);
    await client.close();
    /** @type {Array<Promise<unknown>>} */
    const later = [
      client.newSession(), client.request('_x/y'), client.listSessions().next(), session.prompt('again'),
      session.interruptWith('again'), client.authenticate('m').catch((error) => Promise.reject(error)),
    ];
    const codes = (await Promise.allSettled(later)).map((outcome) => /** @type {any} */ (outcome).reason?.code);
    // An unknown method is the caller's own mistake, whatever became of the client.
    assert.deepEqual(codes, [...Array(5).fill('client_closed'), 'invalid_argument']);
    assert.throws(() => client.notify('_x/y'), { code: 'client_closed' });
  });
}

test('an end of all agents is told as what it is, with how the agent ended', async () => {
  const sent = gate();
  const client = await scripted(PENDING, { onExtNotification: sent.open });
  const session = await client.newSession();
  const failures = Promise.allSettled([session.prompt('x'), client.request('_x/y')]);
  await sent.opened;
  killAllProcesses();
  for (const outcome of await failures) {
    const { code, message, exit, retryable } = /** @type {any} */ (outcome).reason;
    assert.deepEqual([code, retryable], ['client_closed', false]);
    assert.match(message, /the host ended all of its ACP agents/);
    assert.ok(exit.signal !== null || exit.exitCode !== null, JSON.stringify(exit));
  }
});

test('a session that was closed itself stays unusable, and an agent that ended by itself has exited', async () => {
  const client = await scripted([{ do: 'initialize' }, { do: 'session_new' }, { do: 'session_new', sessionId: 's2' }]);
  const closed = await client.newSession();
  const open = await client.newSession();
  await closed.close();
  await assert.rejects(closed.prompt('x'), { code: 'session_unusable' });
  await end(client);
  await assert.rejects(closed.prompt('x'), { code: 'session_unusable' });
  await assert.rejects(open.prompt('x'), { code: 'client_closed' });

  const dying = await scripted([{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'exit', code: 3 }]);
  const session = await dying.newSession();
  await assert.rejects(session.prompt('x'), { code: 'agent_exited' });
  await dying.close();
  await assert.rejects(dying.request('_x/y'), { code: 'agent_exited' });
});
