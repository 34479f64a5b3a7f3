'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const {
  DEFAULT_READ_MAX_BYTES, DEFAULT_WRITE_MAX_BYTES, applyReadWindow, assertPathWithinCwd, createFsHandlers, isGitInternal,
  isSecretPath,
} = require('../..');
const { FsContentTooLargeError, FsWriteDeniedError, PathJailError } = require('../../lib/errors.js');

/** @type {string} */
let cwd;
/** @type {string} */
let outside;
beforeEach(() => {
  cwd = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-files-')));
  outside = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-outside-')));
});
afterEach(() => {
  for (const dir of [cwd, outside]) fs.rmSync(dir, { recursive: true, force: true });
});

const at = (...parts) => path.join(cwd, ...parts);
const jail = (code, message) => (error) => error instanceof PathJailError && error.code === code
  && (message === undefined || error.message.startsWith(message));
const allowing = { permissionPolicy: { rules: { file_write_delete: 'allow' } } };
const open = (options = {}) => createFsHandlers({ cwd, allowRead: true, allowWrite: true, gate: allowing, allowUnrestricted: true, ...options });

describe('names', () => {
  it('of secrets', () => {
    for (const name of ['.env', '.ENV', '.env.local', 'a.pem', 'b.KEY', 'c.p12', 'd.pfx', 'e.keystore', 'f.jks', '.npmrc',
      '.netrc', '.git-credentials', '.dockercfg', '.pgpass', '.htpasswd', 'credentials', 'id_rsa']) {
      assert.equal(isSecretPath(`/x/${name}`), true, name);
    }
    for (const name of ['env', 'a.txt', 'keys.md', 'README']) assert.equal(isSecretPath(`/x/${name}`), false, name);
  });

  it('of git', () => {
    assert.equal(isGitInternal('/x/.git/config'), true);
    assert.equal(isGitInternal('/x/.github/workflows/a.yml'), false);
    assert.equal(isGitInternal('/x/.gitignore'), false);
  });

  it('that are no text are nothing', () => {
    assert.equal(isSecretPath(undefined), false);
    assert.equal(isGitInternal(null), false);
  });
});

describe('assertPathWithinCwd', () => {
  it('resolves files that exist and files that do not', async () => {
    fs.writeFileSync(at('a.txt'), 'x');
    assert.equal(await assertPathWithinCwd(at('a.txt'), cwd), at('a.txt'));
    assert.equal(await assertPathWithinCwd('new.txt', cwd), at('new.txt'));
  });

  it('follows links that stay inside', { skip: process.platform === 'win32' && 'needs a privilege' }, async () => {
    fs.writeFileSync(at('a.txt'), 'x');
    fs.symlinkSync(at('a.txt'), at('link'));
    assert.equal(await assertPathWithinCwd(at('link'), cwd), at('a.txt'));
  });

  it('refuses what leads out', { skip: process.platform === 'win32' && 'needs a privilege' }, async () => {
    fs.symlinkSync(outside, at('dir'));
    fs.symlinkSync(path.join(outside, 'nothing'), at('dangling'));
    await assert.rejects(assertPathWithinCwd('../x', cwd), jail('path_outside_cwd'));
    await assert.rejects(assertPathWithinCwd(at('dir', 'x'), cwd), jail('path_outside_cwd', 'resolved parent escapes cwd: '));
    await assert.rejects(assertPathWithinCwd(at('dangling'), cwd), jail('path_outside_cwd', 'final component is a symlink: '));
    await assert.rejects(assertPathWithinCwd(at('no', 'such'), cwd), jail('path_outside_cwd', 'parent directory does not resolve: '));
  });

  it('refuses what is no path', async () => {
    for (const value of ['', undefined, 7]) await assert.rejects(assertPathWithinCwd(value, cwd), jail('invalid_path', 'empty or non-string path'));
    await assert.rejects(assertPathWithinCwd('a\0b', cwd), jail('invalid_path', 'path contains a NUL byte'));
    await assert.rejects(assertPathWithinCwd('a', at('gone')), jail('invalid_path', 'cwd does not resolve: '));
  });
});

describe('reading', () => {
  it('is absent unless allowed', () => {
    const handlers = createFsHandlers({ cwd, allowRead: false, allowWrite: false });
    assert.deepEqual(Object.keys(handlers), []);
    assert.deepEqual(Object.keys(createFsHandlers({ cwd, allowRead: true, allowWrite: false })), ['readTextFile']);
  });

  it('returns the window of lines', async () => {
    fs.writeFileSync(at('a.txt'), 'one\ntwo\nthree\n');
    const { readTextFile } = open();
    assert.deepEqual(await readTextFile({ path: at('a.txt') }), { content: 'one\ntwo\nthree\n' });
    assert.deepEqual(await readTextFile({ path: at('a.txt'), line: 2, limit: 1 }), { content: 'two' });
    assert.deepEqual(await readTextFile({ path: at('a.txt'), line: null, limit: null }), { content: 'one\ntwo\nthree\n' });
  });

  it('is bounded, with a limit as well, and reaches lines beyond the bound', async () => {
    fs.writeFileSync(at('big.txt'), `${'x'.repeat(99)}\n`.repeat(100));
    const { readTextFile } = open({ readMaxBytes: 250 });
    assert.equal((await readTextFile({ path: at('big.txt') })).content.length, 250);
    assert.equal((await readTextFile({ path: at('big.txt'), limit: 50 })).content.length, 250);
    assert.equal((await readTextFile({ path: at('big.txt'), line: 90, limit: 2 })).content, `${'x'.repeat(99)}\n${'x'.repeat(99)}`);
    assert.equal(DEFAULT_READ_MAX_BYTES, 5 * 1024 * 1024);
  });

  it('refuses secrets, git and what leads out', async () => {
    fs.writeFileSync(at('.env'), 'SECRET');
    fs.mkdirSync(at('.git'));
    fs.writeFileSync(at('.git', 'config'), 'x');
    const { readTextFile } = open();
    await assert.rejects(readTextFile({ path: at('.env') }), jail('denied_secret', 'read of secret-pattern file denied: '));
    await assert.rejects(readTextFile({ path: at('.git', 'config') }), jail('denied_git', 'read of git-internal file denied: '));
    await assert.rejects(readTextFile({ path: '../x' }), jail('path_outside_cwd'));
  });

  it('reports a missing file as Node does', async () => {
    await assert.rejects(open().readTextFile({ path: at('none') }), (error) => error.code === 'ENOENT' && error.rpc.code === -32002);
  });

  it('serves no file that has another name elsewhere', { skip: process.platform === 'win32' && 'link counts differ' }, async () => {
    fs.writeFileSync(path.join(outside, 'secret'), 'x');
    fs.linkSync(path.join(outside, 'secret'), at('innocent.txt'));
    await assert.rejects(open().readTextFile({ path: at('innocent.txt') }), /hard links/);
  });
});

describe('writing', () => {
  it('writes what the policy allows', async () => {
    assert.deepEqual(await open().writeTextFile({ path: at('a.txt'), content: 'new' }), {});
    assert.equal(fs.readFileSync(at('a.txt'), 'utf8'), 'new');
  });

  it('checks the size before anything else', async () => {
    const { writeTextFile } = open({ writeMaxBytes: 3 });
    await assert.rejects(writeTextFile({ path: '/elsewhere/x', content: 'éé' }), (error) => error instanceof FsContentTooLargeError
      && error.code === 'content_too_large' && error.message === 'fs write content exceeds the 3-byte ceiling');
    assert.equal(DEFAULT_WRITE_MAX_BYTES, 5 * 1024 * 1024);
  });

  it('refuses git and secrets before the gate is asked', async () => {
    let asked = 0;
    const gate = { ...allowing, createApprovalRequest: () => void asked++ };
    const { writeTextFile } = open({ gate, allowUnrestricted: false });
    fs.mkdirSync(at('.git'));
    await assert.rejects(writeTextFile({ path: at('.git', 'x'), content: '' }), jail('denied_git', 'write to git-internal path hard-rejected: '));
    await assert.rejects(writeTextFile({ path: at('.env'), content: '' }), jail('denied_secret', 'write to secret-pattern file denied: '));
    assert.equal(asked, 0);
  });

  it('is denied by the policy, and without an approval', async () => {
    const blocked = open({ gate: { permissionPolicy: { rules: { file_write_delete: 'block' } } } });
    await assert.rejects(blocked.writeTextFile({ path: at('a'), content: '' }), (error) => error instanceof FsWriteDeniedError
      && error.message === `file_write_delete is blocked by policy: ${at('a')}`);
    for (const gate of [undefined, {}, { permissionPolicy: {} }]) {
      await assert.rejects(open({ gate }).writeTextFile({ path: at('a'), content: '' }), (error) => error instanceof FsWriteDeniedError
        && error.code === 'write_denied' && error.message.startsWith('file_write_delete write requires approval and was not granted: '));
    }
    assert.ok(!fs.existsSync(at('a')));
  });

  it('asks under the resolved path', async () => {
    const keys = [];
    let created = false;
    const gate = {
      permissionPolicy: {},
      createApprovalRequest: () => {
        created = true;
        return { id: '1' };
      },
      findApprovalByDedupeKey: async (key) => {
        keys.push(key);
        return created ? { id: '1', status: 'approved' } : null;
      },
      pauseForApproval: async () => {},
    };
    await open({ gate, allowUnrestricted: false }).writeTextFile({ path: 'sub/../a.txt', content: 'x' });
    assert.deepEqual(keys, [`fs_write|${at('a.txt')}`, `fs_write|${at('a.txt')}`]);
    assert.equal(fs.readFileSync(at('a.txt'), 'utf8'), 'x');
  });

  it('follows no link that appears while a person decides', { skip: process.platform === 'win32' && 'needs a privilege' }, async () => {
    fs.writeFileSync(path.join(outside, 'target'), 'old');
    let created = false;
    const gate = {
      permissionPolicy: {},
      createApprovalRequest: () => {
        created = true;
      },
      findApprovalByDedupeKey: async () => (created ? { id: '1', status: 'approved' } : null),
      pauseForApproval: async () => fs.symlinkSync(path.join(outside, 'target'), at('a.txt')),
    };
    await open({ gate, allowUnrestricted: false }).writeTextFile({ path: at('a.txt'), content: 'new' }).catch(() => {});
    assert.equal(fs.readFileSync(path.join(outside, 'target'), 'utf8'), 'old');
  });
});

describe('applyReadWindow', () => {
  const text = 'a\nb\nc';
  it('counts lines from 1 and cuts off fractions', () => {
    assert.equal(applyReadWindow(text, 2, 1, 100), 'b');
    assert.equal(applyReadWindow(text, 2.9, 1.9, 100), 'b');
    for (const line of [1, 0, -3, Number.NaN, null, undefined]) assert.equal(applyReadWindow(text, line, null, 100), text);
    for (const limit of [0, -1, null, undefined]) assert.equal(applyReadWindow(text, 2, limit, 100), 'b\nc');
    assert.equal(applyReadWindow(text, 99, null, 100), '');
  });

  it('cuts at a character', () => {
    assert.equal(applyReadWindow('ééé', null, null, 3), 'é');
  });
});
