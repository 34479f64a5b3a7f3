'use strict';

// A child session alone: cancelled where the agent offers that for it, and nowhere else (c40).

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, initialize, scripted } = require('../support/scripted.js');

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] };

/** @param {string} sessionId @param {any} [capabilities] */
function announce(sessionId, capabilities) {
  const update = { sessionUpdate: 'subagent_update', sessionId, state: { state: 'running' }, ...(capabilities && { capabilities }) };
  return { do: 'update', update };
}

test('c40_a_child_is_cancelled_alone_and_its_parents_turn_goes_on', async () => {
  const asked = gate();
  /** @type {any[]} */
  const withdrawn = [];
  const client = await scripted(
    [
      initialize({}), { do: 'session_new' }, { do: 'prompt_begin' }, announce('child', { cancel: {} }),
      { do: 'request', id: 'q', method: 'session/request_permission', params: { sessionId: 'child', ...PERMISSION } },
      { do: 'expect', method: 'session/cancel', params: { $exact: { sessionId: 'child' } } },
      { do: 'expect_response', to: 'q', result: { outcome: { $exact: { outcome: 'cancelled' } } } },
      { do: 'text', text: 'went on', sessionId: 's1' }, { do: 'prompt_end' },
    ],
    {
      onPermission(request) {
        request.signal.addEventListener('abort', () => withdrawn.push(request.childSessionId));
        asked.open();
        return new Promise(() => {});
      },
    },
  );
  const session = await client.newSession();
  const turn = session.prompt('x');
  await asked.opened;
  assert.equal(session.state?.subagents[0].capabilities?.cancel !== undefined, true);
  assert.equal(await session.cancelSubagent('child'), undefined);
  const { text, cancelRequested } = await turn;
  assert.deepEqual([text, cancelRequested, withdrawn], ['went on', false, ['child']]);
  await end(client);
});

test('c40_a_child_that_does_not_offer_it_is_left_alone', async () => {
  const client = await scripted([
    initialize({}), { do: 'session_new' }, { do: 'prompt_begin' }, announce('child'), { do: 'prompt_end' }, ...answered('_test/done'),
  ]);
  const session = await client.newSession();
  await session.prompt('x');
  await assert.rejects(session.cancelSubagent('child'), { code: 'unsupported_capability', phase: 'session' });
  await assert.rejects(session.cancelSubagent('nobody'), { code: 'invalid_argument' });
  await assert.rejects(session.cancelSubagent(/** @type {any} */ (undefined)), { code: 'invalid_argument' });
  await client.request('_test/done');
  await end(client);
  await assert.rejects(session.cancelSubagent('child'), { code: 'client_closed' });
  await session.close();
});
