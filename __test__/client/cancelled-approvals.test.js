'use strict';

// What a host is asked to allow for a turn that is cancelled meanwhile is refused, whatever the host says later.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { AcpRuntimeAdapter } = require('../..');
const { script } = require('../support/fake-agent.js');
const { end, gate, scripted } = require('../support/scripted.js');

const REFUSED = { code: { $any: true } };
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'acp-approvals-'));
test.after(() => fs.rmSync(directory, { recursive: true, force: true }));

/** @param {string} method @param {object} params */
const asking = (method, params) => [
  { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
  { do: 'request', method, params: { sessionId: 's1', ...params }, as: 'call' },
  { do: 'expect_response', to: 'call', error: REFUSED },
  { do: 'expect', method: 'session/cancel' },
  { do: 'prompt_end', stopReason: 'cancelled' },
  { do: 'expect', method: '_test/done' }, { do: 'respond', result: {} },
];

const file = path.join(directory, 'written');
const ways = /** @type {const} */ ({
  'fs/write_text_file': { path: file, content: 'x' },
  'terminal/create': { command: process.execPath, args: ['-e', `require('fs').writeFileSync(${JSON.stringify(file)}, 'x')`] },
});

for (const [method, params] of Object.entries(ways)) {
  test(`${method} is refused by the cancel`, async () => {
    const asked = gate();
    const answer = gate();
    /** @type {AbortSignal | undefined} */
    let signal;
    const approve = (/** @type {any} */ request) => {
      ({ signal } = request);
      asked.open();
      return answer.opened;
    };
    const client = await scripted(asking(method, params), {
      cwd: directory, fs: { write: true, approveWrite: approve }, terminal: { approve },
    });
    const session = await client.newSession();
    const turn = session.prompt('go');
    await asked.opened;
    assert.equal(signal?.aborted, false);
    await turn.cancel();
    assert.equal((await turn).stopReason, 'cancelled');
    assert.equal(signal?.aborted, true);
    answer.open(true);
    await client.request('_test/done');
    assert.ok(!fs.existsSync(file));
    await end(client);
  });
}

test('a question that a cancelled turn left open holds up none of the next turn', async () => {
  const target = path.join(directory, 'a.txt');
  const write = { do: 'request', method: 'fs/write_text_file', params: { sessionId: 's1', path: target, content: 'x' } };
  const launch = script([
    { do: 'initialize' }, { do: 'session_new' },
    { do: 'prompt_begin' }, { ...write, as: 'first' }, { do: 'expect_response', to: 'first', error: REFUSED },
    { do: 'expect', method: 'session/cancel' }, { do: 'prompt_end', stopReason: 'cancelled' },
    { do: 'prompt_begin' }, { ...write, as: 'second' }, { do: 'expect_response', to: 'second', result: { $any: true } },
    { do: 'prompt_end' },
  ]);
  const asked = gate();
  let pauses = 0;
  const adapter = new AcpRuntimeAdapter({ acpBinaryPath: launch.command, acpArgs: launch.args, acpFsWrite: true });
  const { session } = await adapter.createSession({
    cwd: directory,
    systemPrompt: '',
    actionGateContext: {
      permissionPolicy: { rules: { file_write_delete: 'require-approval' } },
      createApprovalRequest: async () => ({ id: `r${pauses}` }),
      findApprovalByDedupeKey: async () => (pauses < 2 ? undefined : { id: 'r2', status: 'approved' }),
      pauseForApproval: () => {
        pauses += 1;
        asked.open();
        return pauses === 1 ? new Promise(() => {}) : Promise.resolve();
      },
    },
  });
  const turn = adapter.promptWithFallback(session, 'one');
  await asked.opened;
  await session.abort();
  await turn.catch(() => {});
  await adapter.promptWithFallback(session, 'two');
  assert.equal(pauses, 2);
  assert.equal(fs.readFileSync(target, 'utf8'), 'x');
  await adapter.dispose(session);
});
