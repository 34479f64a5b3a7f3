'use strict';

/**
 * Whether `claude` is logged in, in the environment that the bridge gets. The bridge itself does not say: it advertises
 * its login methods always, and answers `authenticate` whether logged in or not.
 */

const { spawn, spawnSync } = require('node:child_process');

const MAX_OUTPUT_CHARS = 64 * 1024;
const WINDOWS = process.platform === 'win32';

/**
 * @typedef {object} ClaudeLogin
 * @property {boolean | undefined} loggedIn `undefined`: it could not be found out
 * @property {boolean} [missing] there is no `claude` on the `PATH`
 * @property {string} [detail] why it could not be found out
 */

/**
 * Never rejects, and leaves no process behind.
 *
 * @param {{ env: Record<string, string>, cwd: string, timeoutMs: number }} options
 * @returns {Promise<ClaudeLogin>}
 */
function claudeAuthStatus({ env, cwd, timeoutMs }) {
  return new Promise((resolve) => {
    let output = '';
    // A group of its own on Unix, so that what it started ends with it. On Windows `claude` is a .cmd file.
    /** @type {import('node:child_process').SpawnOptions} */
    const options = {
      env, cwd, stdio: ['ignore', 'pipe', 'ignore'], detached: !WINDOWS, shell: WINDOWS, windowsHide: true,
    };
    const child = spawn('claude', ['auth', 'status', '--json'], options);
    /** @param {ClaudeLogin} login */
    const end = (login) => {
      clearTimeout(timer);
      endTree(child);
      child.stdout?.destroy();
      resolve(login);
    };
    const timer = setTimeout(() => {
      end({ loggedIn: undefined, detail: `claude auth status gave no answer within ${timeoutMs} ms` });
    }, timeoutMs);
    child.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      end({ loggedIn: undefined, missing: error.code === 'ENOENT', detail: error.message });
    });
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      if (output.length < MAX_OUTPUT_CHARS) output += text;
    });
    // What it started may hold the pipe open, and with it the end of the output.
    child.once('exit', () => endTree(child));
    child.once('close', (code) => end(readStatus(output, code)));
  });
}

/**
 * @param {string} output
 * @param {number | null} code
 * @returns {ClaudeLogin}
 */
function readStatus(output, code) {
  try {
    const { loggedIn } = JSON.parse(output);
    if (typeof loggedIn === 'boolean') return { loggedIn };
  } catch {
    // Older versions lack the command.
  }
  // cmd.exe says so of a program that it does not find.
  if (WINDOWS && code === 9009) return { loggedIn: undefined, missing: true, detail: 'claude was not found' };
  return { loggedIn: undefined, detail: `claude auth status gave no answer (exit code ${code})` };
}

/** @param {import('node:child_process').ChildProcess} child */
function endTree(child) {
  if (child.pid === undefined) return;
  try {
    if (WINDOWS) {
      if (child.exitCode === null) spawnSync('taskkill', ['/T', '/F', '/PID', String(child.pid)], { windowsHide: true });
    } else {
      process.kill(-child.pid, 'SIGKILL');
    }
  } catch {
    // It has ended by itself.
  }
}

module.exports = { claudeAuthStatus };
