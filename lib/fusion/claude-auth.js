'use strict';

/**
 * Whether `claude` is logged in, in the environment that the bridge gets. The bridge itself does not say: it advertises
 * its login methods always, and answers `authenticate` whether logged in or not.
 */

const { execFile } = require('node:child_process');

/** `claude auth status` asks no server; a second is usual. */
const TIMEOUT_MS = 15_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * @param {{ env: Record<string, string>, cwd: string }} options
 * @returns {Promise<{ loggedIn: boolean | undefined, detail?: string }>} `undefined`: it could not be found out
 */
function claudeAuthStatus({ env, cwd }) {
  return new Promise((resolve) => {
    const windows = process.platform === 'win32';
    const options = {
      env, cwd, timeout: TIMEOUT_MS, killSignal: /** @type {const} */ ('SIGKILL'), maxBuffer: MAX_OUTPUT_BYTES,
      windowsHide: true, shell: windows,
    };
    execFile('claude', ['auth', 'status', '--json'], options, (error, stdout) => {
      try {
        const { loggedIn } = JSON.parse(stdout);
        if (typeof loggedIn === 'boolean') return resolve({ loggedIn });
      } catch {
        // Older versions lack the command.
      }
      resolve({ loggedIn: undefined, detail: error?.message ?? 'claude auth status gave no answer' });
    });
  });
}

module.exports = { claudeAuthStatus };
