'use strict';

// Each update of the protocol is an event of its own name, with all that was sent.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { AcpClient } = require('../..');
const examples = /** @type {Record<string, any>} */ (require('../../schema/update-examples.json'));
const registry = require('../../schema/registry.json');
const { script, turn } = require('../support/fake-agent.js');

test('every update of the registry is a typed event', async () => {
  const names = registry.updates.map(({ name }) => name);
  const updates = names.map((name) => ({ do: 'update', update: { sessionUpdate: name, ...examples[name] } }));
  const { command, args } = script(turn(updates));
  const client = await AcpClient.launch({ command, args, cwd: process.cwd(), env: {} });
  const session = await client.newSession();
  const events = [];
  for await (const event of session.prompt('go')) events.push(/** @type {any} */ (event));
  assert.equal((await client.close()).exitCode, 0);
  assert.deepEqual(events.map(({ type }) => type), names);
  for (const { type, sessionId, childSessionId, ...members } of events) {
    const { sessionId: child, ...sent } = examples[type];
    assert.deepEqual([sessionId, childSessionId], ['s1', child], type);
    assert.deepEqual(members, sent, type);
  }
});
