'use strict';

// Modes and configuration options of a session.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { AcpClient } = require('../..');
const { script } = require('../support/fake-agent.js');

const model = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'small',
  options: [{ value: 'small', name: 'Small' }, { group: 'g', name: 'Group', options: [{ value: 'large', name: 'Large' }] }] };
const slider = { id: 'heat', name: 'Heat', category: '_vendor', type: 'slider', currentValue: 0.5, min: 0, max: 1 };
const fast = { id: 'fast', name: 'Fast', type: 'boolean', currentValue: false };
const options = [slider, model, fast];

/** @param {any} result What `session/new` gives. @param {import('../support/fake-agent.js').Step[]} steps @param {any} [launch] */
async function opened(result, steps, launch = {}) {
  const opening = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1', result }];
  const { command, args } = script([...opening, ...steps]);
  const client = await AcpClient.launch({ command, args, cwd: process.cwd(), env: {}, ...launch });
  return { client, session: await client.newSession() };
}

/** @param {any} params @param {any} result */
function set(params, result) {
  const method = 'session/set_config_option';
  return [{ do: 'expect', method, params }, { do: 'respond', to: method, result }];
}

test('c61_options_keep_their_order_and_a_response_or_an_update_replaces_them_all', async () => {
  const large = { ...model, currentValue: 'large' };
  const steps = [
    ...set({ configId: 'model', value: { $exact: 'large' }, type: { $absent: true } }, { configOptions: [fast, large] }),
    { do: 'prompt_begin' },
    { do: 'update', update: { sessionUpdate: 'config_option_update', configOptions: [large, slider] } },
    { do: 'prompt_end' },
  ];
  const { client, session } = await opened({ configOptions: options }, steps);
  // An unknown type and an unknown category are there as they came.
  assert.deepEqual(session.configOptions, options);
  assert.deepEqual(await session.setConfigOption('model', 'large'), [fast, large]);
  assert.deepEqual(session.configOptions, [fast, large]);
  await session.prompt('go');
  assert.deepEqual(session.configOptions, [large, slider]);
  assert.equal((await client.close()).exitCode, 0);
});

test('c61_a_response_without_options_is_malformed_and_changes_nothing', async () => {
  for (const result of [{}, null, { configOptions: null }]) {
    const { client, session } = await opened({ configOptions: options }, set({}, result));
    await assert.rejects(session.setConfigOption('model', 'large'), { code: 'malformed_response' });
    assert.deepEqual(session.configOptions, options);
    await client.close();
  }
});

test('c61_what_the_session_does_not_have_is_refused_here', async () => {
  const { client, session } = await opened({}, [{ do: 'expect_silence', ms: 100 }]);
  await assert.rejects(session.setConfigOption('model', 'large'), { code: 'unsupported_capability' });
  await assert.rejects(session.setModel('large'), { code: 'unsupported_capability' });
  await assert.rejects(session.setMode('ask'), { code: 'unsupported_capability' });
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal((await client.close()).exitCode, 0);
});

test('c62_a_boolean_is_sent_as_one_and_only_offered_when_it_is_understood', async () => {
  const on = { ...fast, currentValue: true };
  const steps = set({ configId: 'fast', value: { $exact: true }, type: { $exact: 'boolean' } }, { configOptions: [on] });
  const { client, session } = await opened({ configOptions: options }, steps);
  assert.deepEqual(await session.setConfigOption('fast', true), [on]);
  assert.equal((await client.close()).exitCode, 0);

  for (const [richUpdates, offered] of /** @type {const} */ ([[true, {}], [false, { $absent: true }]])) {
    const offer = { configOptions: { boolean: offered } };
    const pattern = richUpdates ? { session: offer } : { session: { $absent: true } };
    const check = { do: 'check', value: '{{init.params.clientCapabilities}}', matches: pattern };
    const launched = await opened({}, [check], { richUpdates });
    assert.equal((await launched.client.close()).exitCode, 0);
  }
});
