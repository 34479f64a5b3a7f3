'use strict';

// Against the example agent that comes with the official TypeScript SDK 0.24.0, the version that hosts have pinned.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');

const { AcpClient, probeAcpReadiness } = require('../..');

const AGENT = require.resolve('acp-sdk-0.24/dist/examples/agent.js');
const cwd = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'acp-peer-'));
after(() => fs.rmSync(cwd, { recursive: true, force: true }));

describe('the example agent of the TypeScript SDK 0.24.0', () => {
  /** @type {Awaited<ReturnType<typeof AcpClient.launch>>} */
  let client;
  /** @type {'allow' | 'deny'} */
  let decision = 'deny';
  /** @type {string[]} */
  const asked = [];
  before(async () => {
    client = await AcpClient.launch({
      command: process.execPath,
      args: [AGENT],
      cwd,
      env: {},
      onPermission(request) {
        asked.push(String(request.toolCall.title));
        return decision;
      },
    });
  });
  after(() => client.close());

  /** @param {'allow' | 'deny'} answer */
  async function turnWith(answer) {
    decision = answer;
    const session = await client.newSession();
    const turn = session.prompt('Hello');
    const types = [];
    for await (const event of turn) types.push(event.type);
    const { stopReason, text } = await turn;
    return { types, stopReason, text };
  }

  test('a denied turn skips the change', async () => {
    const { types, stopReason, text } = await turnWith('deny');
    assert.equal(stopReason, 'end_turn');
    assert.match(text, /skip the configuration update\.$/);
    const own = types.filter((type) => /message|tool_call/.test(type));
    assert.deepEqual(own, [
      'agent_message_chunk',
      'tool_call',
      'tool_call_update',
      'agent_message_chunk',
      'tool_call',
      'agent_message_chunk',
    ]);
    assert.deepEqual(asked, ['Modifying critical configuration file']);
  });

  test('an allowed turn makes it', async () => {
    const { stopReason, text } = await turnWith('allow');
    assert.equal(stopReason, 'end_turn');
    assert.match(text, /changes have been applied\.$/);
  });

  test('a cancelled turn ends', async () => {
    const session = await client.newSession();
    const turn = session.prompt('Hello');
    for await (const event of turn) if (event.type === 'tool_call') break;
    assert.deepEqual(await turn.cancel(), { state: 'cancelled' });
    assert.equal((await turn).stopReason, 'cancelled');
  });
});

test('the probe finds it ready', async () => {
  const status = await probeAcpReadiness({
    binaryPath: process.execPath,
    args: [AGENT],
    cwd,
    env: {},
    timeoutMs: 60_000,
  });
  assert.deepEqual([status.ok, status.reason], [true, 'ok']);
});
