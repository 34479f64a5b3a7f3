'use strict';

// No schema file of the tool bridge outlives its host, however the host ends.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const { STALE_MS, sweep } = require('../../lib/fusion/schema-files.js');
const { startFusionToolBridge } = require('../../lib/fusion/tool-bridge.js');

const BRIDGE = require.resolve('../../lib/fusion/tool-bridge.js');
const UUID = '00000000-0000-4000-8000-000000000000';

/** @type {string} */
let dir;
beforeEach(() => {
  dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-schemas-')));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

/** Runs a host with a temporary directory of its own. @param {string} end how it ends */
function host(end) {
  const program = `
    const tools = [{ name: 'fn_x', execute: async () => 'x' }];
    require(${JSON.stringify(BRIDGE)}).startFusionToolBridge(tools).then(() => { ${end} });
  `;
  const env = { ...process.env, TMPDIR: dir, TEMP: dir, TMP: dir };
  return spawnSync(process.execPath, ['-e', program], { env, timeout: 60_000 });
}

/** A pid that nobody has. */
function deadPid() {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return pid;
}

describe('a schema file', () => {
  it('goes when its bridge is disposed, before the calls that still run', async () => {
    const bridge = await startFusionToolBridge([{ name: 'fn_x', execute: async () => 'x' }]);
    const file = bridge.mcpServer.args[1];
    assert.ok(fs.existsSync(file));
    const disposed = bridge.dispose();
    assert.ok(!fs.existsSync(file));
    await disposed;
  });

  it('goes when its host exits without disposing, or throws', () => {
    assert.equal(host('process.exit(3)').status, 3);
    assert.deepEqual(fs.readdirSync(dir), []);
    assert.notEqual(host("setImmediate(() => { throw new Error('unhandled'); })").status, 0);
    assert.deepEqual(fs.readdirSync(dir), []);
  });

  it('of a host that was killed goes with a later one, once it is old', { skip: process.platform === 'win32' && 'no signals' }, async () => {
    host("process.kill(process.pid, 'SIGKILL')");
    assert.equal(fs.readdirSync(dir).length, 1);
    await sweep(dir);
    assert.equal(fs.readdirSync(dir).length, 1, 'it is young: its host may live where its id means nothing here');
    await sweep(dir, Date.now() + STALE_MS + 60_000);
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

describe('a sweep', () => {
  it('removes nothing of the living, and nothing that is not such a file', async () => {
    const pid = deadPid();
    const kept = [
      `fusion-acp-mcp-schemas-${process.pid}-${UUID}.json`,
      `fusion-acp-mcp-schemas-${pid}-${UUID}.txt`,
      'fusion-acp-mcp-schemas-x.json',
      `other-${pid}-${UUID}.json`,
    ];
    for (const name of kept) fs.writeFileSync(path.join(dir, name), '[]');
    const folder = `fusion-acp-mcp-schemas-${pid}-${UUID.replace('4', '5')}.json`;
    fs.mkdirSync(path.join(dir, folder));
    fs.writeFileSync(path.join(dir, `fusion-acp-mcp-schemas-${pid}-${UUID}.json`), '[]');
    await sweep(dir, Date.now() + STALE_MS + 60_000);
    assert.deepEqual(fs.readdirSync(dir).sort(), [...kept, folder].sort());
  });
});
