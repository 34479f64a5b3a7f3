'use strict';

// Listing and deleting sessions.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { AcpClient } = require('../..');
const { script } = require('../support/fake-agent.js');

/** @param {import('../support/fake-agent.js').Step[]} steps */
function launch(steps) {
  const capabilities = { sessionCapabilities: { list: {}, delete: {} } };
  const options = { do: 'options', strict: true };
  const { command, args } = script([options, { do: 'initialize', result: { agentCapabilities: capabilities } }, ...steps]);
  return AcpClient.launch({ command, args, cwd: process.cwd(), env: {} });
}

/**
 * A page that is asked for with `cursor` and ends with `nextCursor`.
 *
 * @param {string | undefined} cursor
 * @param {string[]} ids
 * @param {any} [nextCursor]
 */
function page(cursor, ids, nextCursor) {
  const sessions = ids.map((sessionId) => ({ sessionId, cwd: '/w' }));
  const params = { cursor: cursor === undefined ? { $absent: true } : { $exact: cursor } };
  const result = nextCursor === undefined ? { sessions } : { sessions, nextCursor };
  return [{ do: 'expect', method: 'session/list', params }, { do: 'respond', to: 'session/list', result }];
}

/** @param {import('../..').AcpClient} client */
async function listed(client) {
  const ids = [];
  for await (const { sessionId } of client.listSessions()) ids.push(sessionId);
  return ids;
}

test('c27_a_cursor_is_sent_back_as_it_came_and_an_absent_one_ends_the_list', async () => {
  const odd = ['', ' {"a":1}\n', '\u{1f600}%2F'];
  for (const last of [undefined, null]) {
    const steps = [page(undefined, ['a'], odd[0]), page(odd[0], [], odd[1]), page(odd[1], ['b', 'c'], odd[2]), page(odd[2], ['d'], last)];
    const client = await launch(steps.flat());
    assert.deepEqual(await listed(client), ['a', 'b', 'c', 'd']);
    assert.equal((await client.close()).exitCode, 0);
  }
});

test('c27_a_cursor_that_comes_back_ends_the_list', async () => {
  const client = await launch([page(undefined, ['a'], 'x'), page('x', ['b'], 'y'), page('y', ['c'], 'x')].flat());
  assert.deepEqual(await listed(client), ['a', 'b', 'c']);
  assert.equal((await client.close()).exitCode, 0);
});

test('a cursor that is no string, or too long to remember, fails the list', async () => {
  for (const cursor of [5, true, {}, ['x'], 'x'.repeat(20_000)]) {
    const client = await launch(page(undefined, ['a'], cursor));
    await assert.rejects(listed(client), { code: 'malformed_response' });
    await client.close();
  }
});

test('c28_deleting_a_session_twice_is_two_calls_and_no_special_case', async () => {
  const gone = [{ do: 'expect', method: 'session/delete', params: { sessionId: 's' } }, { do: 'respond', to: 'session/delete', result: {} }];
  const client = await launch([...gone, ...gone]);
  await client.deleteSession('s');
  await client.deleteSession('s');
  assert.equal((await client.close()).exitCode, 0);
});
