'use strict';

// An answer that is longer than the client accepts fails the call that waits for it, wherever the id stands in it.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, initialize, scripted } = require('../support/scripted.js');

const LONG = 'y'.repeat(10_000);
const OPEN = [initialize({}), ...answered('session/new', {}, { sessionId: 's1' })];
const LIMIT = { maxMessageBytes: 4000 };

/** The answer to a call as one line. @param {(id: string) => string} line @param {string} [to] */
const raw = (line, to = 'call') => ({ do: 'raw', text: `${line(`{{${to}.id}}`)}\n` });

/** @type {Record<string, (id: string) => string>} */
const PLACES = {
  first: (id) => `{"id":${id},"jsonrpc":"2.0","result":{"stopReason":"end_turn","x":"${LONG}"}}`,
  last: (id) => `{"jsonrpc":"2.0","result":{"stopReason":"end_turn","x":"${LONG}"},"id":${id}}`,
  'last, with room around it': (id) => `{ "result" : { "x" : "${LONG}" } , "jsonrpc" : "2.0" , "id" : ${id} } \r`,
  'last, after an error': (id) => `{"error":{"code":1,"message":"${LONG}"},"id":${id}}`,
  'last, where the start names nothing': (id) => `{"_meta":{"x":"${LONG}"},"result":{},"id":${id}}`,
  'in the middle, of the only call': (id) => `{"result":{"x":"${LONG}"},"id":${id},"_meta":{"x":"${LONG}"}}`,
};

for (const [place, line] of Object.entries(PLACES)) {
  test(`an id that comes ${place}`, async () => {
    const client = await scripted([
      ...OPEN,
      { do: 'expect', method: 'session/prompt', as: 'call' }, { do: 'text', sessionId: 's1', text: 'so far' }, raw(line),
      { do: 'expect', method: '_x/y', as: 'call' }, raw(line),
      ...answered('_test/done'),
    ], LIMIT);
    const session = await client.newSession();
    await assert.rejects(Promise.resolve(session.prompt('x')), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.partialText], ['malformed_response', 'so far']);
      return /larger than the limit/.test(error.message);
    });
    await assert.rejects(client.request('_x/y'), { code: 'malformed_response' });
    await client.request('_test/done');
    assert.equal(client.diagnostics().oversizeLines, 2);
    await end(client);
  });
}

test('an answer of too many values is one, however short it is', async () => {
  const many = (/** @type {number} */ values) => `"result":[${'1,'.repeat(values - 4)}1]`;
  const client = await scripted([
    ...OPEN,
    { do: 'expect', method: '_x/y', as: 'call' }, raw((id) => `{"id":${id},${many(1_000_001)}}`),
    { do: 'expect', method: '_x/y', as: 'call' }, raw((id) => `{"id":${id},${many(1_000_000)}}`),
  ]);
  await client.newSession();
  await assert.rejects(client.request('_x/y'), { code: 'malformed_response', message: /larger than the limit/ });
  assert.equal((await client.request('_x/y')).length, 999_997);
  assert.equal(client.diagnostics().oversizeLines, 1);
  await end(client);
});

test('of several calls the right one fails', async () => {
  const client = await scripted([
    ...OPEN,
    { do: 'expect', method: '_x/a', as: 'a' }, { do: 'expect', method: '_x/b', as: 'b' },
    raw(PLACES.last, 'a'), { do: 'respond', to: 'b', result: { fine: true } },
  ], LIMIT);
  await client.newSession();
  const [a, b] = await Promise.allSettled([client.request('_x/a'), client.request('_x/b')]);
  assert.equal(/** @type {any} */ (a).reason?.code, 'malformed_response');
  assert.deepEqual(/** @type {any} */ (b).value, { fine: true });
  await end(client);
});

test('where nobody can tell whose it was, nobody is failed for it', async () => {
  const client = await scripted([
    ...OPEN,
    { do: 'expect', method: '_x/a', as: 'a' }, { do: 'expect', method: '_x/b', as: 'b' },
    raw(PLACES['in the middle, of the only call'], 'a'), { do: 'respond', to: 'b', result: 1 }, { do: 'respond', to: 'a', result: 2 },
  ], LIMIT);
  await client.newSession();
  assert.deepEqual(await Promise.all([client.request('_x/a'), client.request('_x/b')]), [2, 1]);
  await end(client);
});

test('what only looks like an answer fails nobody', async () => {
  const lines = [
    `{"method":"session/update","params":{"x":"${LONG}","id":{{a.id}}}}`,
    `{"params":{"x":"${LONG}"},"method":"_x/y","id":{{a.id}}}`,
    `{"_meta":{"x":"${LONG}","id":{{a.id}}}}`,
  ];
  const client = await scripted([
    ...OPEN,
    { do: 'expect', method: '_x/a', as: 'a' }, ...lines.map((text) => ({ do: 'raw', text: `${text}\n` })),
    { do: 'respond', to: 'a', result: 2 },
  ], LIMIT);
  await client.newSession();
  assert.equal(await client.request('_x/a'), 2);
  await end(client);
});
