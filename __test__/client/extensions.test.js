'use strict';

// Requests and notifications outside the protocol, both ways, and both sides taking a request back.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, scripted } = require('../support/scripted.js');

test('extension requests and notifications go both ways', async () => {
  /** @type {unknown[]} */
  const told = [];
  const client = await scripted(
    [
      { do: 'initialize' },
      { do: 'expect', method: '_host/ask', params: { $exact: { n: 1, deep: [null, 'é'] } } },
      { do: 'respond', result: ['any', { shape: true }] },
      { do: 'expect', method: '_host/tell', params: { x: 1 } },
      { do: 'expect', method: '_host/bare' },
      { do: 'notify', method: '_agent/tell', params: [1, 2] },
      { do: 'request', id: 'text-id', method: '_agent/ask', params: { a: 1 } },
      { do: 'expect_response', to: 'text-id', result: { $exact: { method: '_agent/ask', params: { a: 1 } } } },
      { do: 'request', id: 7, method: '_agent/null' },
      { do: 'expect_response', to: 7, result: null },
      { do: 'request', id: 8, method: '_agent/unknown' },
      { do: 'expect_response', to: 8, error: { code: -32601 } },
      { do: 'request', id: 9, method: '_agent/fails' },
      { do: 'expect_response', to: 9, error: { code: 4711, message: 'no luck', data: { why: 'x' } } },
      { do: 'request', id: 10, method: '_agent/throws' },
      { do: 'expect_response', to: 10, error: { code: -32603 } },
      ...answered('_test/done'),
    ],
    {
      onExtNotification: (method, params) => void told.push([method, params]),
      async onExtRequest(method, params, { signal }) {
        assert.equal(signal.aborted, false);
        if (method === '_agent/ask') return { method, params };
        if (method === '_agent/null') return null;
        if (method === '_agent/fails') throw Object.assign(new Error('no luck'), { code: 4711, data: { why: 'x' } });
        if (method === '_agent/throws') throw new TypeError('a fault of the host');
        return undefined;
      },
    },
  );
  assert.deepEqual(await client.request('_host/ask', { n: 1, deep: [null, 'é'] }), ['any', { shape: true }]);
  client.notify('_host/tell', { x: 1 });
  client.notify('_host/bare');
  await client.request('_test/done');
  assert.deepEqual(told, [['_agent/tell', [1, 2]]]);
  await end(client);
});

test('without a handler an extension request is unknown, and what is no extension is refused here', async () => {
  const client = await scripted([
    { do: 'initialize' },
    { do: 'request', method: '_agent/ask', as: 'ask' },
    { do: 'expect_response', to: 'ask', error: { code: -32601 } },
    ...answered('_test/done'),
  ]);
  await assert.rejects(client.request(/** @type {any} */ ('vendor/x')), { code: 'invalid_argument' });
  assert.throws(() => client.notify(/** @type {any} */ ('vendor/x')), { code: 'invalid_argument' });
  await client.request('_test/done');
  await end(client);
});

test('a request that the agent takes back is answered once, and the handler hears of it', async () => {
  const aborted = gate();
  const client = await scripted(
    [
      { do: 'initialize' },
      { do: 'request', id: 5, method: '_agent/slow' },
      { do: 'notify', method: '$/cancel_request', params: { requestId: '5' } },
      { do: 'notify', method: '$/cancel_request', params: { requestId: 5 } },
      { do: 'expect_response', to: 5, error: { code: -32800 } },
      { do: 'notify', method: '$/cancel_request', params: { requestId: 5 } },
      { do: 'notify', method: '$/never/heard/of', params: {} },
      { do: 'expect', method: '_test/late' },
      { do: 'expect_silence', ms: 100 },
    ],
    {
      onExtRequest: (_method, _params, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.open();
            resolve('too late');
          });
        }),
    },
  );
  await aborted.opened;
  client.notify('_test/late');
  await end(client);
});

test('an elicitation that the agent takes back is cancelled', async () => {
  const asked = gate();
  const client = await scripted(
    [
      { do: 'initialize' },
      {
        do: 'request', id: 1, method: 'elicitation/create',
        params: { mode: 'form', message: 'm', requestId: 99, requestedSchema: { type: 'object', properties: {} } },
      },
      { do: 'expect', method: '_test/asked' },
      { do: 'notify', method: '$/cancel_request', params: { requestId: 1 } },
      { do: 'expect_response', to: 1, result: { $exact: { action: 'cancel' } } },
    ],
    {
      onElicitation: ({ signal }) =>
        new Promise((resolve) => {
          asked.open();
          signal.addEventListener('abort', () => resolve({ action: 'decline' }));
        }),
    },
  );
  await asked.opened;
  client.notify('_test/asked');
  await end(client);
});

test('a question of a session that is closed is withdrawn with it', async () => {
  const asked = gate();
  const withdrawn = gate();
  const client = await scripted(
    [
      { do: 'initialize' }, { do: 'session_new' }, { do: 'request', id: 'q', method: '_agent/ask', params: { sessionId: 's1' } },
      { do: 'expect_response', to: 'q', error: { code: -32800 } }, ...answered('_test/done'),
    ],
    {
      onExtRequest(method, params, { signal }) {
        signal.addEventListener('abort', withdrawn.open);
        asked.open();
        return new Promise(() => {});
      },
    },
  );
  const session = await client.newSession();
  await asked.opened;
  await session.close();
  await withdrawn.opened;
  await client.request('_test/done');
  await end(client);
});
