'use strict';

// What an agent that is gone leaves in the host: nothing, and no promise without an end.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { AcpClient, defaultAgentPath } = require('../..');
const { HIGH } = require('../../lib/client/event-queue.js');
const { getHub } = require('../../lib/native/hub.js');
const { waitUntil } = require('../support/process.js');

const AGENT = { command: process.execPath, args: [defaultAgentPath()], cwd: process.cwd(), env: {} };
const hub = getHub();
/** Channels besides the environment's own, once everything that is on its way has arrived. */
const none = () => waitUntil(() => hub.channels.size === 1 && hub.waiting.size === 0, () => `${hub.channels.size} channels`);

test('a client that was closed leaves no channel, sessions that were left open included', async () => {
  const client = await AcpClient.launch(AGENT);
  const session = await client.newSession();
  await client.newSession();
  assert.match((await session.prompt('hi')).text, /hi/);
  await client.close();
  await none();
});

test('events that wait for their consumer are still delivered, then the channel goes', async () => {
  const client = await AcpClient.launch(AGENT);
  const session = await client.newSession();
  const updates = session.updates();
  const turn = session.prompt('[plain] [flood:5000]').catch(() => {});
  let chunks = 0;
  for await (const event of updates) {
    // The consumer rests at its first event: the session is paused, its queue fills, and the agent is closed.
    if (chunks === 0) {
      await sleep(300);
      await client.close();
    }
    if (event.type === 'agent_message_chunk') chunks++;
  }
  await turn;
  assert.ok(chunks > HIGH, `${chunks} chunks, although ${HIGH} were held when the agent went`);
  await none();
});

test('whatever is asked of a client that is over is answered', async () => {
  const client = await AcpClient.launch(AGENT);
  const session = await client.newSession();
  await client.close();
  await none();
  await assert.rejects(client.newSession(), { code: 'client_closed' });
  await assert.rejects(client.request('_anything'), { code: 'client_closed' });
  await assert.rejects(async () => session.prompt('late'), { code: 'client_closed' });
  await session.cancel();
  await session.close().catch(() => {});
  await client.close();
  await none();
});

test('an agent that dies by itself, and launches that fail or are broken off, leave nothing', async () => {
  const client = await AcpClient.launch(AGENT);
  const session = await client.newSession();
  await assert.rejects(session.prompt('[crash]'), { code: 'agent_exited' });
  // `closed` alone would not keep Node alive.
  await client.close();
  await assert.rejects(AcpClient.launch({ ...AGENT, command: '/no/such/agent' }), { code: 'missing_binary' });
  const mute = { ...AGENT, args: ['-e', 'setInterval(() => {}, 1000)'] };
  await assert.rejects(AcpClient.launch({ ...mute, initializeTimeoutMs: 300 }), { code: 'handshake_timeout' });
  const controller = new AbortController();
  const launching = AcpClient.launch({ ...mute, signal: controller.signal });
  setTimeout(() => controller.abort(), 100);
  await assert.rejects(launching, { name: 'AbortError' });
  await none();
});
