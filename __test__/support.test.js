'use strict';

// The test support itself: the fake agent from JavaScript, and the view of processes.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');
const { test } = require('node:test');

const agent = require('./support/fake-agent.js');
const processes = require('./support/process.js');

/**
 * Starts an agent and talks to it without any protocol logic.
 * @param {agent.Launch} launch
 * @param {Record<string, string>} [env]
 */
function start({ command, args }, env = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  /** @type {Promise<[number | null, string]>} */
  const ended = new Promise((resolve) => child.on('close', (code) => resolve([code, stderr])));
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ended,
    pid: child.pid,
    stdin: child.stdin,
    /** @param {unknown} message */
    send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    next: async () => {
      const { value } = await lines.next();
      return value === undefined ? undefined : JSON.parse(value);
    },
  };
}

/**
 * Opens session s1 and prompts.
 * @param {ReturnType<typeof start>} client
 */
async function prompt(client) {
  client.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } });
  await client.next();
  client.send({ jsonrpc: '2.0', id: 1, method: 'session/new', params: { cwd: '/', mcpServers: [] } });
  await client.next();
  client.send({ jsonrpc: '2.0', id: 2, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
}

test('a script is played', async () => {
  const client = start(agent.script(agent.turn([{ do: 'text', text: 'hi {{args.0}}' }]), ['there']));
  await prompt(client);
  assert.equal((await client.next()).params.update.content.text, 'hi there');
  assert.deepEqual(await client.next(), { jsonrpc: '2.0', id: 2, result: { stopReason: 'end_turn' } });
  client.stdin.end();
  assert.deepEqual(await client.ended, [0, '']);
});

test('a long script goes through a file', async () => {
  const text = 'é'.repeat(300_000);
  const client = start(agent.script([{ do: 'notify', method: 'long', params: { text } }]));
  assert.equal((await client.next()).params.text, text);
  client.stdin.end();
  assert.deepEqual(await client.ended, [0, '']);
});

test('a mistake in a script says where it is', async () => {
  const [code, stderr] = await start(agent.script([{ do: 'initialize' }, { do: 'dance' }])).ended;
  assert.equal(code, 73);
  assert.match(stderr, /step 2: unknown variant `dance`/);
});

test('ready cases and floods can be launched', async () => {
  assert.ok(agent.fieldCases().includes('w01_noise'));
  const fenced = start(agent.fieldCase('s21_fenced'));
  await prompt(fenced);
  assert.match((await fenced.next()).params.update.content.text, /^```json/);
  fenced.stdin.end();
  await fenced.ended;

  const flood = start(agent.flood({ kind: 'tools', count: 3, writeBytes: 100 }));
  await prompt(flood);
  for (let i = 0; i < 6; i += 1) assert.equal((await flood.next()).method, 'session/update');
  assert.equal((await flood.next()).result.stopReason, 'end_turn');
  flood.stdin.end();
  assert.deepEqual(await flood.ended, [0, '']);
});

test('the living and the dead are told apart', { skip: process.platform === 'win32' && 'needs signals' }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'support-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'pids');
  const mark = `ACP_SUPPORT_TEST=${process.pid}-${Date.now()}`;
  const [name, value] = mark.split('=');
  const steps = [
    { do: 'write_pid', file: '{{args.0}}' },
    { do: 'double_fork_daemon', pidFile: '{{args.0}}' },
    { do: 'notify', method: 'ready' },
  ];
  const client = start(agent.behindShell(agent.script(steps, [file])), { [name]: value });
  await client.next();
  const pids = await processes.waitForPids(file, 2);
  assert.ok(pids.every(processes.alive));
  assert.deepEqual(processes.survivors(mark).sort(), [Number(client.pid), ...pids].sort());
  client.stdin.end();
  await client.ended;
  assert.deepEqual(processes.survivors(mark), [pids[1]]);
  process.kill(pids[1], 'SIGKILL');
  await processes.waitGone(pids);
  await processes.waitNoSurvivors(mark);
  await assert.rejects(processes.waitGone([]), /no process ids/);
  assert.equal(processes.exists(pids[0]), false);
});
