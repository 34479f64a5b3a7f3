'use strict';

// Against an agent on the official TypeScript SDK 2.4.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');

const { AcpClient, AcpError, probeAcpReadiness } = require('../..');

const AGENT = path.join(__dirname, 'sdk-2.4-agent.mjs');
const cwd = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'acp-peer-'));
const launch = (options = {}) =>
  AcpClient.launch({ command: process.execPath, args: [AGENT], cwd, env: {}, ...options });

after(() => fs.rmSync(cwd, { recursive: true, force: true }));

describe('an agent on the TypeScript SDK 2.4', () => {
  /** @type {Awaited<ReturnType<typeof launch>>} */
  let client;
  /** @type {'allow' | 'deny'} */
  let decision = 'deny';
  before(async () => {
    client = await launch({ fs: { read: true, write: true }, terminal: true, onPermission: () => decision });
  });
  after(() => client.close());

  test('says who it is', () => {
    assert.deepEqual(client.agentInfo, { name: 'sdk-2.4-agent', version: '1.0.0' });
    assert.equal(client.protocolVersion, 1);
  });

  test('answers in order, a chunk a word', async () => {
    const session = await client.newSession();
    const turn = session.prompt('one two three');
    const chunks = [];
    for await (const event of turn) {
      if (event.type === 'agent_message_chunk' && event.content.type === 'text') chunks.push(event.content.text);
    }
    assert.deepEqual(chunks, ['one ', 'two ', 'three']);
    const { stopReason, text } = await turn;
    assert.deepEqual([stopReason, text], ['end_turn', 'one two three']);
  });

  test('gets the answer to its permission request', async () => {
    const session = await client.newSession();
    decision = 'deny';
    assert.equal(await session.prompt('permission').text(), 'chosen no');
    decision = 'allow';
    const turn = session.prompt('permission');
    const statuses = [];
    for await (const event of turn) if ('status' in event) statuses.push(event.status);
    assert.deepEqual(statuses, ['pending', 'completed']);
    assert.equal(await turn.text(), 'chosen yes');
  });

  test('writes and reads files through the client', async () => {
    const session = await client.newSession();
    const answer = await session.prompt('write').text();
    assert.match(answer, /^read "two\\?n?"?/);
    assert.equal(fs.readFileSync(path.join(cwd, 'from-agent.txt'), 'utf8'), 'one\ntwo\nthree\n');
  });

  test('runs a terminal through the client', async () => {
    const session = await client.newSession();
    assert.equal(await session.prompt('terminal').text(), 'exit 3, from the terminal');
  });

  test('is cancelled in mid-stream, and takes the next prompt', async () => {
    const session = await client.newSession();
    const turn = session.prompt('slow');
    for await (const event of turn) if (event.type === 'agent_message_chunk') break;
    assert.deepEqual(await turn.cancel(), { state: 'cancelled' });
    const result = await turn;
    assert.deepEqual([result.stopReason, result.cancelRequested], ['cancelled', true]);
    assert.equal(await session.prompt('again').text(), 'again');
  });

  test('fails a turn with its own error, beside which the code stays stable', async () => {
    const session = await client.newSession();
    await assert.rejects(
      async () => session.prompt('fail'),
      (error) => {
        assert.ok(error instanceof AcpError);
        assert.equal(error.rpc?.code, -32603);
        assert.equal(error.phase, 'prompt');
        return true;
      },
    );
  });

  test('answers an extension method it does not know with an error', async () => {
    await assert.rejects(client.request('_example/unknown', {}), (error) => {
      assert.ok(error instanceof AcpError);
      assert.equal(error.rpc?.code, -32601);
      return true;
    });
  });

  test('keeps sessions apart that run at the same time', async () => {
    const sessions = await Promise.all([client.newSession(), client.newSession(), client.newSession()]);
    const answers = await Promise.all(
      sessions.map((session, index) => session.prompt(`answer ${index} `.repeat(50)).text()),
    );
    answers.forEach((answer, index) => assert.equal(answer, `answer ${index} `.repeat(50)));
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
  assert.deepEqual([status.ok, status.reason, status.protocolVersion], [true, 'ok', 1]);
});

test('closing it ends it, with a turn running as well', async () => {
  const client = await launch();
  const session = await client.newSession();
  const turn = session.prompt('slow');
  for await (const event of turn) if (event.type === 'agent_message_chunk') break;
  const settled = turn.then(
    () => 'resolved',
    () => 'rejected',
  );
  await client.close();
  assert.ok(['resolved', 'rejected'].includes(await settled));
  assert.throws(() => process.kill(client.pid, 0), { code: 'ESRCH' });
});
