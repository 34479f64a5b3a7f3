'use strict';

// The system's codes of programs that cannot be started, with real files.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, describe, it } = require('node:test');
const { AcpClient, AcpRuntimeAdapter, AcpSpawnError, activeProcessCount, askAcpOnce, connect, probeAcpReadiness } = require('../..');

const skip = process.platform === 'win32' && 'the files are made executable in the way of Unix';
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-spawn-')));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** @param {string} name @param {string} text @param {number} mode */
function file(name, text, mode) {
  const made = path.join(folder, name);
  fs.writeFileSync(made, text);
  fs.chmodSync(made, mode);
  return made;
}

const plain = file('plain', '#!/bin/sh\n', 0o644);
const directory = path.join(folder, 'directory');
fs.mkdirSync(directory);

/** @type {Array<[string, { command: string, args?: string[] }, string, string, RegExp]>} */
const CASES = [
  ['is not there', { command: path.join(folder, 'absent') }, 'ENOENT', 'missing_binary', /not found/],
  ['is not on the path', { command: 'no-such-agent-anywhere' }, 'ENOENT', 'missing_binary', /not found/],
  ['is below a file', { command: path.join(plain, 'agent') }, 'ENOTDIR', 'missing_binary', /not found/],
  ['is not executable', { command: plain }, 'EACCES', 'spawn_error', /not marked as executable/],
  ['is not executable, on the path', { command: 'plain' }, 'EACCES', 'spawn_error', /not marked as executable/],
  ['is a directory', { command: directory }, 'EACCES', 'spawn_error', /directory/],
  ['is a device', { command: '/dev/null' }, 'EACCES', 'spawn_error', /not a regular file/],
  ['has no interpreter', { command: file('bad-shebang', '#!/no/such/interpreter\n', 0o755) }, 'ENOENT', 'spawn_error', /interpreter/],
  ['has an interpreter that is not executable', { command: file('odd-shebang', `#!${plain}\n`, 0o755) }, 'EACCES', 'spawn_error', /permission denied/],
  ['is no program', { command: file('no-shebang', 'echo hi\n', 0o755) }, 'ENOEXEC', 'spawn_error', /not a program/],
  ['is empty', { command: file('empty', '', 0o755) }, 'ENOEXEC', 'spawn_error', /not a program/],
  ['has arguments that are too long', { command: '/bin/sh', args: ['-c', 'x'.repeat(4_000_000)] }, 'E2BIG', 'spawn_error', /too large/],
];
const env = { PATH: folder };

for (const [what, { command, args = [] }, code, typedCode, why] of CASES) {
  describe(`a program that ${what}`, { skip }, () => {
    it(`is ${code} for connect(), as Node's spawn has it`, async () => {
      const options = { binaryPath: command, args, cwd: folder, env, advertiseFs: { read: false, write: false } };
      await assert.rejects(connect(options), (/** @type {any} */ error) => {
        assert.ok(error instanceof AcpSpawnError, String(error));
        const { syscall, path: asked, phase, extra, cause } = error;
        assert.deepEqual([error.code, error.message, syscall, asked, phase],
          [code, `spawn ${command} ${code}`, `spawn ${command}`, command, 'spawn']);
        assert.equal(extra?.systemCode, code);
        assert.equal(cause.code, typedCode);
        assert.match(cause.message, why);
        return true;
      });
    });

    it(`is ${typedCode} for a typed launch, with the system's error as its cause`, async () => {
      await assert.rejects(AcpClient.launch({ command, args, cwd: folder, env }), (/** @type {any} */ error) => {
        assert.equal(error.code, typedCode);
        assert.match(error.message, why);
        assert.equal(error.extra.systemCode, code);
        const { cause } = error;
        assert.deepEqual([cause.code, cause.message, cause.syscall, cause.path],
          [code, `spawn ${command} ${code}`, `spawn ${command}`, command]);
        return true;
      });
    });

    it('is told to an ask and to a probe', async () => {
      const runtime = new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args, acpEnvAllowList: [] });
      const failed = /** @type {any} */ (await askAcpOnce(runtime, { prompt: 'p', cwd: folder }));
      // The adapter has the environment of this process, in which a bare name is not found at all.
      if (command !== 'plain') {
        assert.deepEqual([failed.reason, failed.message], ['create_session_failed', `spawn ${command} ${code}`]);
      }
      const status = await probeAcpReadiness({ binaryPath: command, args, cwd: folder, env });
      assert.deepEqual([status.ok, status.reason], [false, typedCode]);
      assert.equal(/** @type {any} */ (status.error).extra.systemCode, code);
      assert.match(status.detail ?? '', why);
      assert.equal(activeProcessCount(), 0);
    });
  });
}

it('what was found on the path is in the extras', { skip }, async () => {
  await assert.rejects(AcpClient.launch({ command: 'plain', cwd: folder, env }), (/** @type {any} */ error) => {
    assert.equal(error.extra.path, plain);
    return true;
  });
});
