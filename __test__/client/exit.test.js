'use strict';

// How a host ends: by itself as soon as nothing is pending, and never without its agents.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const { waitGone } = require('../support/process.js');

const ROOT = path.join(__dirname, '..', '..');

const PRELUDE = `
  const { AcpClient, defaultAgentPath } = require(${JSON.stringify(ROOT)});
  const launch = () => AcpClient.launch({ command: process.execPath, args: [defaultAgentPath()], cwd: process.cwd(), env: {} });
  const say = (client) => process.stdout.write(client.pid + '\\n');
`;

/**
 * Runs a host; resolves with how it ended and the agents that it named.
 *
 * @param {string} body
 * @returns {Promise<{ code: number | null, signal: string | null, pids: number[], stderr: string }>}
 */
function host(body) {
  const child = spawn(process.execPath, ['-e', `${PRELUDE}(async () => {${body}})();`], { cwd: ROOT });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part) => (stdout += part));
  child.stderr.on('data', (part) => (stderr += part));
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      const pids = stdout.split('\n').map(Number).filter((pid) => pid > 0);
      resolve({ code, signal, pids, stderr });
    });
  });
}

const CASES = {
  'after close': 'const c = await launch(); say(c); await c.newSession(); await c.close();',
  'without a close, idle session and listener included':
    'const c = await launch(); say(c); const s = await c.newSession(); s.updates().next(); c.closed.then(() => {});',
  'by process.exit in a turn':
    "const c = await launch(); say(c); const s = await c.newSession(); s.prompt('[slow]').catch(() => {}); setTimeout(() => process.exit(0), 200);",
};

for (const [name, body] of Object.entries(CASES)) {
  test(`a host ends ${name}, and its agent with it`, async () => {
    const { code, signal, pids, stderr } = await host(body);
    assert.deepEqual([code, signal], [0, null], stderr);
    assert.equal(pids.length, 1);
    await waitGone(pids);
  });
}

test('a host that is killed takes its agent with it', { skip: process.platform === 'win32' && 'no SIGKILL on Windows' }, async () => {
  const { signal, pids } = await host("const c = await launch(); say(c); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200);");
  assert.equal(signal, 'SIGKILL');
  assert.equal(pids.length, 1);
  await waitGone(pids);
});

test('a worker that is terminated takes its own agents and no others', async () => {
  const { Worker } = require('node:worker_threads');
  const { AcpClient, defaultAgentPath, activeProcessCount } = require(ROOT);
  const mine = await AcpClient.launch({ command: process.execPath, args: [defaultAgentPath()], cwd: ROOT, env: {} });
  const code = `${PRELUDE} const { parentPort } = require('node:worker_threads');
    launch().then(async (c) => { const s = await c.newSession(); s.prompt('[slow]').catch(() => {}); parentPort.postMessage(c.pid); });`;
  for (let round = 0; round < 3; round++) {
    const worker = new Worker(code, { eval: true });
    const pid = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    await worker.terminate();
    await waitGone([pid]);
  }
  assert.equal(activeProcessCount(), 1);
  const session = await mine.newSession();
  assert.equal((await session.prompt('still here')).stopReason, 'end_turn');
  await mine.close();
  assert.equal(activeProcessCount(), 0);
});
