'use strict';

// Values of the wrong type where a host reads text or a list: they must fail nobody who handles the typed event.

const assert = require('node:assert/strict');
const path = require('node:path');
const { test } = require('node:test');
const { AcpClient } = require('../..');
const { main } = require('../../lib/cli');
const { world } = require('../support/terminal.js');
const { script } = require('../support/fake-agent.js');

const ODD = [null, 5, 'text', {}, [null], [5], [[]], [{}], { toString: 1 }, { length: 2 }];

/** Updates in which a member that a host shows is none of its type. */
const updates = ODD.flatMap((odd) => [
  ...['agent_message_chunk', 'agent_thought_chunk', 'user_message_chunk'].flatMap((sessionUpdate) => [
    { sessionUpdate, content: odd },
    { sessionUpdate, content: { type: 'text', text: odd } },
    { sessionUpdate, content: { type: odd } },
  ]),
  { sessionUpdate: 'plan', entries: odd },
  { sessionUpdate: 'plan', entries: [{ content: odd, status: 'constructor' }] },
  { sessionUpdate: 'plan', entries: [{ content: 'step', status: odd }] },
  { sessionUpdate: 'tool_call', toolCallId: 't', title: odd, status: odd, kind: odd, locations: odd, content: odd },
  { sessionUpdate: 'tool_call_update', toolCallId: 't', title: odd, status: odd, content: odd },
  { sessionUpdate: 'notice', severity: odd, title: odd, message: odd },
  // One member alone, where all others are right.
  ...['title', 'status', 'kind', 'locations', 'content'].flatMap((member) => [
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'title', [member]: odd },
    { sessionUpdate: 'tool_call_update', toolCallId: 't', [member]: odd },
  ]),
  ...['severity', 'title', 'description'].map((member) => (
    { sessionUpdate: 'notice', severity: 'info', title: 'title', [member]: odd })),
  { sessionUpdate: 'available_commands_update', availableCommands: odd },
  { sessionUpdate: 'config_option_update', configOptions: odd },
  { sessionUpdate: 'current_mode_update', currentModeId: odd },
]);

const steps = [
  { do: 'initialize' },
  { do: 'session_new', result: { modes: { availableModes: [null] }, configOptions: [null] } },
  { do: 'prompt_begin' },
  ...updates.map((update) => ({ do: 'update', update })),
  { do: 'text', text: 'the end' },
  { do: 'prompt_end' },
];

test('a typed event has what its type promises, or is unknown', async () => {
  const client = await AcpClient.launch({ ...script(steps), cwd: process.cwd(), env: {} });
  try {
    const session = await client.newSession();
    const seen = [];
    for await (const event of session.prompt('x')) {
      const shown = /** @type {any} */ (event);
      seen.push(shown.type);
      if (shown.type.endsWith('_chunk') && shown.content.type === 'text') assert.equal(typeof shown.content.text, 'string');
      if (shown.type === 'plan') for (const entry of shown.entries) assert.equal(typeof entry.content, 'string');
      if (shown.type === 'tool_call' || shown.type === 'notice') assert.equal(typeof shown.title, 'string');
      if (shown.type === 'notice') assert.equal(typeof shown.severity, 'string');
      if (shown.type === 'notice' || shown.type.startsWith('tool_call')) {
        for (const member of [shown.title, shown.description, shown.status, shown.kind]) assert.equal(typeof (member ?? ''), 'string');
        for (const list of [shown.content ?? [], shown.locations ?? []]) {
          assert.ok(Array.isArray(list) && list.every((item) => item !== null && typeof item === 'object'));
        }
      }
      for (const item of shown.configOptions ?? shown.availableCommands ?? []) assert.equal(typeof item, 'object');
    }
    assert.ok(['unknown', 'plan', 'notice', 'tool_call', 'tool_call_update'].every((type) => seen.includes(type)));
    await assert.rejects(session.setConfigOption('a', 'b'), /** @param {any} error */ (error) => error.name !== 'TypeError');
    await assert.rejects(session.setMode('a'), /** @param {any} error */ (error) => error.name !== 'TypeError');
    await assert.rejects(session.setModel('a'), /** @param {any} error */ (error) => error.name !== 'TypeError');
  } finally {
    await client.close();
  }
});

test('the command line shows a turn with such updates to its end', async () => {
  const { command, args } = script(steps);
  const { screen, code } = await world(main, ['ask', '-v', '--cwd', path.resolve('.'), '--cmd', command, 'x', '--', ...args]);
  assert.equal(code, 0, screen.stderr);
  assert.match(screen.stdout, /the end\n$/);
});
