'use strict';

// An abort lets the caller of any call go at once, tells the agent, and leaves nothing open behind it.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, initialize, scripted } = require('../support/scripted.js');

const ALL = {
  loadSession: true,
  auth: { logout: {}, status: {} },
  providers: {},
  sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, fork: {}, title: {}, status: {}, options: {}, archive: {} },
};
const DONE = answered('_test/done');

/** @typedef {import('../../types/client').AcpClient} AcpClient */

/** @type {Record<string, (client: AcpClient, signal: AbortSignal) => Promise<unknown>>} */
const OPENS = {
  'session/new': (client, signal) => client.newSession({ signal }),
  'session/load': (client, signal) => client.loadSession('s9', { signal }),
  'session/resume': (client, signal) => client.resumeSession('s9', { signal }),
  'session/fork': (client, signal) => client.forkSession('s1', { signal }),
};

/** @type {Record<string, (client: AcpClient, signal: AbortSignal) => Promise<unknown>>} */
const CALLS = {
  ...OPENS,
  'session/list': (client, signal) => client.listSessions({ signal }).next(),
  'session/delete': (client, signal) => client.deleteSession('s', { signal }),
  authenticate: (client, signal) => client.authenticate('m', { signal }),
  logout: (client, signal) => client.logout({ signal }),
  'auth/status': (client, signal) => client.authStatus({ signal }),
  'providers/list': (client, signal) => client.listProviders({ signal }),
  'session/status': (client, signal) => client.sessionStatus('s', { signal }),
  'session/options': (client, signal) => client.sessionOptions({ signal }),
  'session/archive': (client, signal) => client.archiveSession('s', { signal }),
  'session/set_title': (client, signal) => client.setSessionTitle('s', 't', { signal }),
  '_x/y': (client, signal) => client.request('_x/y', {}, { signal }),
};

/** @param {any[]} steps @param {() => void} [onGo] */
function launch(steps, onGo = () => {}) {
  const first = { do: 'initialize', result: { agentCapabilities: ALL, authMethods: [{ id: 'm', name: 'M' }] } };
  return scripted([first, ...steps], { unstable: true, onExtNotification: (method) => void (method === '_test/go' && onGo()) });
}

for (const [method, call] of Object.entries(CALLS)) {
  test(`${method} is let go while it runs, and the agent hears of it`, async () => {
    const sent = gate();
    const client = await launch(
      [
        { do: 'expect', method, as: 'call' },
        { do: 'notify', method: '_test/go' },
        { do: 'expect', method: '$/cancel_request', params: { requestId: '{{call.id}}' } },
        { do: 'respond', to: 'call', error: { code: -32800, message: 'cancelled' } },
        ...DONE,
      ],
      sent.open,
    );
    const controller = new AbortController();
    const reason = new Error('enough');
    const called = call(client, controller.signal);
    void sent.opened.then(() => controller.abort(reason));
    await assert.rejects(called, (error) => error === reason);
    await client.request('_test/done');
    await end(client);
  });

  test(`${method} with a signal that has fired sends nothing`, async () => {
    const client = await launch(DONE);
    await assert.rejects(call(client, AbortSignal.abort()), { name: 'AbortError' });
    await client.request('_test/done');
    await end(client);
  });
}

for (const [method, call] of Object.entries(OPENS)) {
  test(`a session that ${method} opens too late is closed`, async () => {
    const sent = gate();
    const client = await launch(
      [
        { do: 'expect', method, as: 'call' },
        { do: 'notify', method: '_test/go' },
        { do: 'expect', method: '$/cancel_request' },
        { do: 'respond', to: 'call', result: { sessionId: 's9' } },
        { do: 'expect', method: 'session/close', params: { $exact: { sessionId: 's9' } } },
        { do: 'respond', result: null },
        ...DONE,
      ],
      sent.open,
    );
    const controller = new AbortController();
    const called = call(client, controller.signal);
    void sent.opened.then(() => controller.abort());
    await assert.rejects(called, { name: 'AbortError' });
    await client.request('_test/done');
    assert.equal(client.diagnostics().lateResponses, 1);
    await end(client);
  });
}

test('a session that came too late is wanted after all when it was opened again', async () => {
  const sent = gate();
  const client = await launch(
    [
      { do: 'expect', method: 'session/load', as: 'first' },
      { do: 'notify', method: '_test/go' },
      { do: 'expect', method: '$/cancel_request' },
      { do: 'expect', method: 'session/load', as: 'second' },
      { do: 'respond', to: 'first', result: {} },
      { do: 'respond', to: 'second', result: {} },
      { do: 'expect', method: 'session/prompt', strict: true },
      { do: 'respond', result: { stopReason: 'end_turn' } },
    ],
    sent.open,
  );
  const controller = new AbortController();
  const called = client.loadSession('s9', { signal: controller.signal });
  void sent.opened.then(() => controller.abort());
  await assert.rejects(called, { name: 'AbortError' });
  const session = await client.loadSession('s9');
  assert.equal((await session.prompt('x')).stopReason, 'end_turn');
  await end(client);
});

test('an agent that cannot close sessions is asked nothing more', async () => {
  const sent = gate();
  const client = await scripted(
    [
      initialize({}),
      { do: 'expect', method: 'session/new', as: 'call' },
      { do: 'notify', method: '_test/go' },
      { do: 'expect', method: '$/cancel_request' },
      { do: 'respond', to: 'call', result: { sessionId: 's9' } },
      ...DONE,
    ],
    { onExtNotification: sent.open },
  );
  const controller = new AbortController();
  const called = client.newSession({ signal: controller.signal });
  void sent.opened.then(() => controller.abort());
  await assert.rejects(called, { name: 'AbortError' });
  await client.request('_test/done');
  await end(client);
});

test('a call that ran out of time is let go in the same way', async () => {
  const client = await launch([
    { do: 'expect', method: 'session/new', as: 'call' },
    { do: 'expect', method: '$/cancel_request', params: { requestId: '{{call.id}}' } },
    { do: 'respond', to: 'call', result: { sessionId: 's9' } },
    { do: 'expect', method: 'session/close', params: { sessionId: 's9' } },
    { do: 'respond', result: {} },
    ...DONE,
  ]);
  await assert.rejects(client.newSession({ timeoutMs: 50 }), { code: 'timeout' });
  await client.request('_test/done');
  await end(client);
});

test('a launch is let go while it authenticates', async () => {
  const controller = new AbortController();
  const launched = scripted(
    [
      { do: 'initialize', result: { authMethods: [{ id: 'm', name: 'M' }] } },
      { do: 'expect', method: 'authenticate' },
      { do: 'notify', method: '_test/go' },
      { do: 'expect_eof' },
    ],
    { authenticate: true, signal: controller.signal, onExtNotification: () => controller.abort() },
  );
  await assert.rejects(launched, { name: 'AbortError' });
});
