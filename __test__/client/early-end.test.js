'use strict';

// An agent that is called off while it starts: at whatever moment that is, nobody is left when the caller hears of it, and
// nobody comes afterwards.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { AcpClient, AcpRuntimeAdapter, activeProcessCount, askAcpOnce, connect, killAllProcesses, probeAcpReadiness } = require('../..');
const { script } = require('../support/fake-agent.js');
const { survivors } = require('../support/process.js');

/** Moments from before the process exists to the middle of the handshake, in milliseconds. */
const MOMENTS = [undefined, 0, 0, 1, 1, 2, 3, 5, 10];
const NO_ENVIRONMENTS = process.platform === 'win32' && 'the environment of a foreign process cannot be read on Windows';
const SILENT = [{ do: 'expect', method: 'initialize' }, { do: 'expect', method: '_never' }];
let marks = 0;

/** An agent that never answers, and what it is found by. */
function silent() {
  const value = `${process.pid}-${marks++}`;
  const { command, args } = script(SILENT);
  return { command, args, env: { EARLY_END: value }, mark: `EARLY_END=${value}` };
}

/** @param {number | undefined} moment */
async function until(moment) {
  if (moment !== undefined) await sleep(moment);
}

for (const [index, moment] of MOMENTS.entries()) {
  const when = `${moment === undefined ? 'at once' : `after ${moment} ms`} (${index})`;

  test(`a launch aborted ${when} leaves nobody`, { skip: NO_ENVIRONMENTS }, async () => {
    const { mark, ...agent } = silent();
    const controller = new AbortController();
    const reason = new Error('enough');
    const launched = AcpClient.launch({ ...agent, cwd: process.cwd(), signal: controller.signal });
    const seen = assert.rejects(launched, (error) => error === reason);
    await until(moment);
    controller.abort(reason);
    await seen;
    assert.deepEqual([survivors(mark), activeProcessCount()], [[], 0]);
    await sleep(30);
    assert.deepEqual([survivors(mark), activeProcessCount()], [[], 0]);
  });

  /** @type {Record<string, (agent: { command: string, args: string[], env: Record<string, string> }) => Promise<string>>} */
  const starts = {
    launch: (agent) => AcpClient.launch({ ...agent, cwd: process.cwd() }).then(() => 'launched', (error) => error.message),
    probe: ({ command, ...agent }) =>
      probeAcpReadiness({ ...agent, binaryPath: command, cwd: process.cwd() }).then((status) => status.detail ?? 'ready'),
    ask: ({ command, args }) =>
      askAcpOnce(new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args }), { prompt: 'x', cwd: process.cwd() })
        .then((result) => (result.ok ? 'answered' : result.message)),
    connect: ({ command, ...agent }) =>
      connect({ ...agent, binaryPath: command, cwd: process.cwd() }).then(() => 'connected', (error) => error.message),
  };
  for (const [name, start] of Object.entries(starts)) {
    test(`killing all ends a ${name} that began ${when} before`, { skip: NO_ENVIRONMENTS }, async () => {
      const { mark, ...agent } = silent();
      const outcome = start(agent);
      await until(moment);
      killAllProcesses();
      assert.match(await outcome, /ended all of its ACP agents/);
      assert.deepEqual([survivors(mark), activeProcessCount()], [[], 0]);
    });
  }
}

test('an agent launched after all were killed lives', async () => {
  killAllProcesses();
  const client = await AcpClient.launch({ ...script([{ do: 'initialize' }]), cwd: process.cwd(), env: {} });
  await client.close();
});

test('a launch that is aborted in time keeps nobody waiting', () => {
  const code = `
    const { AcpClient } = require(${JSON.stringify(path.join(__dirname, '..', '..'))});
    const controller = new AbortController();
    const agent = ${JSON.stringify(script(SILENT))};
    AcpClient.launch({ ...agent, cwd: process.cwd(), env: {}, signal: controller.signal }).catch((e) => console.log(e.name));
    controller.abort();
  `;
  // Shorter than the limit of the handshake, which would end it as well.
  const out = execFileSync(process.execPath, ['-e', code], { encoding: 'utf8', timeout: 20_000 });
  assert.equal(out, 'AbortError\n');
});
