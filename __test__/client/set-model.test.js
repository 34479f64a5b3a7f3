'use strict';

// Which configuration option chooses the model: the category says it, and where real agents are careless the id does.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { AcpClient } = require('../..');
const { script } = require('../support/fake-agent.js');

/**
 * @param {string} id
 * @param {string | null | undefined} category
 * @param {string[]} values
 */
const option = (id, category, values = ['a', 'b']) => ({
  id,
  name: id,
  type: 'select',
  currentValue: 'a',
  options: values.map((value) => ({ value, name: value })),
  ...(category === undefined ? {} : { category }),
});

/**
 * @param {any[]} configOptions
 * @param {string} [expected] the option that must be set; without one nothing may reach the agent
 */
async function setModel(configOptions, expected) {
  const method = 'session/set_config_option';
  const set = { do: 'expect', method, params: { configId: expected, value: 'b' } };
  const steps = expected ? [set, { do: 'respond', to: method, result: { configOptions } }] : [];
  const opening = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's', result: { configOptions } }];
  const { command, args } = script([...opening, ...steps]);
  const client = await AcpClient.launch({ command, args, cwd: process.cwd(), env: {} });
  try {
    const session = await client.newSession();
    return await session.setModel('b');
  } finally {
    assert.equal((await client.close()).exitCode, 0, client.stderr());
  }
}

/** @type {[string, any[], string][]} */
const choices = [
  ['the option of the category', [option('mode', 'mode'), option('llm', 'model'), option('model', 'x')], 'llm'],
  ['of several of the category the one with the value', [option('vendor', 'model', ['a']), option('llm', 'model')], 'llm'],
  ['the first of the category when several have it', [option('vendor', 'model'), option('llm', 'model')], 'vendor'],
  ['an option of that id without a category', [option('mode', 'mode'), option('model', undefined)], 'model'],
  ['an option of that id whose category is null', [option('model', null)], 'model'],
];

for (const [what, options, expected] of choices) {
  test(`setModel takes ${what}`, async () => {
    assert.deepEqual(await setModel(options, expected), options);
  });
}

test('setModel takes no option of another category, whatever its id', async () => {
  const options = [option('model', 'mode'), option('llm', undefined)];
  await assert.rejects(setModel(options), { code: 'unsupported_capability' });
});
