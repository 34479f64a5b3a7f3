'use strict';

// A launch that is given up, however early, leaves no process; nor does a host that dies during one.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { test } = require('node:test');
const { setImmediate: round, setTimeout: sleep } = require('node:timers/promises');
const { AcpClient, activeProcessCount } = require('../..');
const { script } = require('../support/fake-agent.js');
const { waitNoSurvivors, waitUntil } = require('../support/process.js');

const skip = process.platform === 'win32' && 'the environment of a foreign process cannot be read on Windows';
/** It stays, whatever becomes of its input, and leaves a child in a session of its own. */
const AGENT = script([
  { do: 'spawn_grandchild', setsid: true, holdPipes: true },
  { do: 'options', eof: 'ignore' }, { do: 'ignore_sigterm' }, { do: 'sleep', ms: 30_000 },
]);

/** When it is given up. @type {Record<string, () => Promise<unknown>>} */
const MOMENTS = {
  'in the same breath': async () => {},
  'a round of the event loop later': () => round(),
  'a moment later': () => sleep(2),
  'a while later': () => sleep(40),
};

for (const [when, moment] of Object.entries(MOMENTS)) {
  test(`a launch that is aborted ${when} leaves no process`, { skip }, async () => {
    const mark = `ACP_TEST_LAUNCH=${process.pid}-${when.replaceAll(' ', '-')}`;
    const [name, value] = mark.split('=');
    const reason = new Error('enough');
    await Promise.all(Array.from({ length: 5 }, async () => {
      const controller = new AbortController();
      const launched = AcpClient.launch({ ...AGENT, cwd: process.cwd(), env: { [name]: value }, signal: controller.signal });
      const rejected = assert.rejects(launched, reason);
      await moment();
      controller.abort(reason);
      await rejected;
    }));
    await waitUntil(() => activeProcessCount() === 0, 'agents are still counted');
    await waitNoSurvivors(mark);
  });
}

const HOST = `
  const { AcpClient } = require(${JSON.stringify(require.resolve('../..'))});
  require(${JSON.stringify(require.resolve('../../lib/native/hub.js'))}).getHub();
  process.stdout.write('launching');
  void AcpClient.launch({ ...JSON.parse(process.argv[1]), cwd: process.cwd() }).catch(() => {});
`;

test('a host that is killed while it launches takes the agent with it', { skip }, async () => {
  const mark = `ACP_TEST_LAUNCH=${process.pid}-killed`;
  const [name, value] = mark.split('=');
  const options = JSON.stringify({ ...AGENT, env: { [name]: value } });
  for (let round = 0; round < 4; round++) {
    await Promise.all(Array.from({ length: 4 }, async (_, i) => {
      const host = spawn(process.execPath, ['-e', HOST, options], { stdio: ['ignore', 'pipe', 'ignore'] });
      const gone = new Promise((resolve) => host.once('exit', resolve));
      await new Promise((resolve) => host.stdout.once('data', resolve));
      await sleep(round * 4 + i);
      host.kill('SIGKILL');
      await gone;
    }));
  }
  await waitNoSurvivors(mark);
});
