'use strict';

// `claude auth status --json`, asked of programs that stand in for `claude`.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const { claudeAuthStatus } = require('../../lib/fusion/claude-auth.js');
const { alive } = require('../support/process.js');

const unix = { skip: process.platform === 'win32' && 'the stand-ins are shell scripts' };

/** @type {string} */
let dir;
beforeEach(() => {
  dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-claude-')));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

/** Puts a `claude` on a PATH of its own. @param {string} lines @param {number} [timeoutMs] */
function ask(lines, timeoutMs = 60_000) {
  fs.writeFileSync(path.join(dir, 'claude'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return claudeAuthStatus({ env: { PATH: `${dir}:/usr/bin:/bin`, HOME: dir }, cwd: dir, timeoutMs });
}

/** @param {string} file */
async function gone(file) {
  const pid = Number(fs.readFileSync(path.join(dir, file), 'utf8'));
  assert.ok(pid > 0);
  while (alive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('claudeAuthStatus', unix, () => {
  it('asks for the status in exactly the given environment', async () => {
    const login = await ask('env > env.txt; echo "$@" > args.txt; echo \'{"loggedIn":true,"authMethod":"x"}\'');
    assert.deepEqual(login, { loggedIn: true });
    assert.equal(fs.readFileSync(path.join(dir, 'args.txt'), 'utf8'), 'auth status --json\n');
    const names = fs.readFileSync(path.join(dir, 'env.txt'), 'utf8').trim().split('\n').map((line) => line.split('=')[0]);
    assert.deepEqual(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)).sort(), ['HOME', 'PATH']);
  });

  it('takes the answer of a failed exit: that is how a missing login is told', async () => {
    assert.deepEqual(await ask('echo \'{"loggedIn":false,"authMethod":"none"}\'; exit 1'), { loggedIn: false });
  });

  it('does not know when the answer is none', async () => {
    const lines = ['echo unknown command: auth >&2; exit 1', 'echo "not json"', 'echo \'{"loggedIn":"yes"}\'', 'echo null', 'exit 0'];
    for (const line of lines) {
      const login = await ask(line);
      assert.equal(login.loggedIn, undefined, line);
      assert.notEqual(login.missing, true);
      assert.match(login.detail ?? '', /gave no answer/);
    }
  });

  it('tells a missing program apart', async () => {
    const login = await claudeAuthStatus({ env: { PATH: dir, HOME: dir }, cwd: dir, timeoutMs: 60_000 });
    assert.deepEqual([login.loggedIn, login.missing], [undefined, true]);
    const nowhere = await claudeAuthStatus({ env: { PATH: dir, HOME: dir }, cwd: path.join(dir, 'none'), timeoutMs: 60_000 });
    assert.equal(nowhere.loggedIn, undefined);
  });

  it('ends one that hangs, with what it started', async () => {
    const login = await ask('echo $$ > self; sleep 300 & echo $! > child; wait', 400);
    assert.equal(login.loggedIn, undefined);
    assert.match(login.detail ?? '', /within 400 ms/);
    await gone('self');
    await gone('child');
  });

  it('waits for nobody who only holds the pipe', async () => {
    assert.deepEqual(await ask('sleep 300 & echo $! > child; echo \'{"loggedIn":true}\''), { loggedIn: true });
    await gone('child');
  });

  it('keeps no more of a flood than it needs', async () => {
    const login = await ask('yes "no json" | head -c 3000000');
    assert.equal(login.loggedIn, undefined);
  });
});
