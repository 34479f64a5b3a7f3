'use strict';

/** Finds the processes that belong to a case, wherever they hang in the process tree. */

const fs = require('node:fs');

/** Processes can be found by their mark here. */
const canScan = process.platform === 'linux' && fs.existsSync('/proc/self/environ');

/** @typedef {{ pid: number, command: string, by: 'environment' | 'command line' | 'folder' | 'zombie' }} Survivor */

/**
 * Every process with the mark in its environment, its command line or its working directory, and every dead child of
 * this process that was never reaped.
 *
 * @param {string} mark
 * @returns {Survivor[]}
 */
function survivorsOf(mark) {
  if (!canScan) return [];
  /** @type {Survivor[]} */
  const found = [];
  for (const name of fs.readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    const by = belongs(pid, command, mark);
    if (by) found.push({ pid, command: command.slice(0, 200), by });
  }
  return found;
}

/**
 * @param {number} pid
 * @param {string} command
 * @param {string} mark
 * @returns {Survivor['by'] | undefined}
 */
function belongs(pid, command, mark) {
  if (command.includes(mark)) return 'command line';
  if (read(`/proc/${pid}/environ`).includes(mark)) return 'environment';
  if (link(`/proc/${pid}/cwd`).includes(mark)) return 'folder';
  // "pid (name) state parent …"; the name may itself hold brackets.
  const [state, parent] = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return state === 'Z' && Number(parent) === process.pid ? 'zombie' : undefined;
}

/**
 * Waits until none is left.
 *
 * @param {string} mark
 * @param {number} ms
 * @returns {Promise<Survivor[]>} those left at the end
 */
async function waitUntilGone(mark, ms) {
  const end = Date.now() + ms;
  for (;;) {
    const left = survivorsOf(mark);
    if (left.length === 0 || Date.now() >= end) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Ends what a case left behind, so that the next one starts clean. Only marked processes are touched.
 *
 * @param {string} mark
 */
async function sweep(mark) {
  for (let round = 0; round < 20; round++) {
    const left = survivorsOf(mark).filter((survivor) => survivor.by !== 'zombie');
    if (left.length === 0) return;
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone in the meantime.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @param {string} file */
function read(file) {
  try {
    return fs.readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** @param {string} file */
function link(file) {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}

module.exports = { canScan, survivorsOf, sweep, waitUntilGone };
