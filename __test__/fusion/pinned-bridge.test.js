'use strict';

// The setup check with the real pinned bridge, as far as it goes without Claude Code: a stand-in says who is logged in.
// The interop kit repeats it with the real `claude`.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const { activeProcessCount, checkSetup, resolveBundledClaudeBridgeBinary } = require('../..');
const { waitNoSurvivors } = require('../support/process.js');

const bridge = resolveBundledClaudeBridgeBinary();
const skip = process.platform === 'win32' ? 'the stand-in is a shell script'
  : bridge.kind !== 'resolved' && `the optional dependency is not installed: ${bridge.reason}`;

describe('checkSetup with the pinned bridge', { skip }, () => {
  const saved = { HOME: process.env.HOME, PATH: process.env.PATH };
  /** @type {string} */
  let home;
  beforeEach(() => {
    home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-bridge-home-')));
    process.env.HOME = home;
    process.env.PATH = [home, path.dirname(process.execPath), '/usr/bin', '/bin'].join(path.delimiter);
  });
  afterEach(() => {
    Object.assign(process.env, saved);
    fs.rmSync(home, { recursive: true, force: true });
  });
  const claude = (lines) => fs.writeFileSync(path.join(home, 'claude'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });

  it('is installed when claude is logged in', async () => {
    claude('echo \'{"loggedIn":true}\'');
    assert.deepEqual(await checkSetup({ settings: {} }), { status: 'installed', version: '0.1.1', binaryPath: bridge.path });
  });

  it('says what to do when claude is logged out', async () => {
    claude('echo \'{"loggedIn":false}\'; exit 1');
    const { status, error } = await checkSetup({ settings: {} });
    assert.equal(status, 'error');
    assert.match(error ?? '', /run `claude` once to authenticate/);
  });

  it('is installed, and says that it does not know, when claude is too old to answer', async () => {
    claude('echo "error: unknown command auth" >&2; exit 1');
    const { status, error } = await checkSetup({ settings: {} });
    assert.equal(status, 'installed');
    assert.match(error ?? '', /the sign-in of Claude was not verified/);
  });

  it('leaves no process behind', async () => {
    claude('sleep 300 & echo \'{"loggedIn":true}\'');
    assert.equal((await checkSetup({ settings: {} })).status, 'installed');
    assert.equal(activeProcessCount(), 0);
    await waitNoSurvivors(`HOME=${home}`);
  });
});
