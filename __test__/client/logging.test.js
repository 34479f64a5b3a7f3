'use strict';

// Logging is off by default; on demand it goes to stderr, with names and counts but no values.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');

const ROOT = path.join(__dirname, '..', '..');
const HOST = `
  const { AcpClient, defaultAgentPath } = require(${JSON.stringify(ROOT)});
  (async () => {
    const client = await AcpClient.launch({
      command: process.execPath, args: [defaultAgentPath(), 'argument-value-7f3a'], cwd: process.cwd(), env: { NAME_OF_IT: 'environment-value-91c2' },
    });
    await client.newSession();
    await client.close();
  })();`;

/** @param {Record<string, string>} env */
function stderrOf(env) {
  const { FUSION_ACP_LOG, PI_ACP_DEBUG, ...inherited } = process.env;
  const { status, stderr } = spawnSync(process.execPath, ['-e', HOST], { encoding: 'utf8', env: { ...inherited, ...env } });
  assert.equal(status, 0, stderr);
  return stderr;
}

test('nothing is logged by default', () => {
  assert.equal(stderrOf({}), '');
});

for (const [name, value] of [['FUSION_ACP_LOG', 'debug'], ['PI_ACP_DEBUG', '1']]) {
  test(`${name}=${value} logs names and counts, never values`, () => {
    const log = stderrOf({ [name]: value });
    assert.match(log, /agent started .*args=2 .*NAME_OF_IT/);
    assert.match(log, /tree ended/);
    assert.doesNotMatch(log, /argument-value-7f3a|environment-value-91c2/);
  });
}
