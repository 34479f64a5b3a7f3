'use strict';

// Who is alive, and who must not be: for tests that a process tree is gone.

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

/** How long anything may take, in milliseconds. It bounds a failing test, it measures nothing. */
const PATIENCE = 10_000;

/**
 * The state letter of a process as `ps` gives it, or `undefined` when there is no such process.
 * @param {number} pid
 * @returns {string | undefined}
 */
function state(pid) {
  if (process.platform === 'linux') {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may hold anything, so the state is looked for after the last of them.
      return stat[stat.lastIndexOf(') ') + 2];
    } catch {
      return undefined;
    }
  }
  if (process.platform === 'win32') {
    const list = execFileSync('tasklist', ['/NH', '/FO', 'CSV', '/FI', `PID eq ${pid}`], { encoding: 'utf8' });
    return list.includes(`"${pid}"`) ? 'R' : undefined;
  }
  try {
    return execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).trim()[0];
  } catch {
    return undefined;
  }
}

/**
 * Whether a process runs. One that has ended and was only not collected by its parent does not count.
 * @param {number} pid
 * @returns {boolean}
 */
function alive(pid) {
  const found = state(pid);
  return found !== undefined && found !== 'Z';
}

/**
 * Whether a process exists at all, also as an uncollected one.
 * @param {number} pid
 * @returns {boolean}
 */
function exists(pid) {
  return state(pid) !== undefined;
}

/**
 * Waits until something is true.
 * @param {() => boolean} condition
 * @param {string | (() => string)} what What did not happen, for the error.
 * @returns {Promise<void>}
 */
async function waitUntil(condition, what) {
  const until = Date.now() + PATIENCE;
  while (!condition()) {
    if (Date.now() > until) throw new Error(typeof what === 'string' ? what : what());
    await sleep(5);
  }
}

/**
 * Waits until processes are gone; rejects with their command lines when some stay. No pids at all are a mistake of the test.
 * @param {number[]} pids
 * @returns {Promise<void>}
 */
async function waitGone(pids) {
  if (pids.length === 0) throw new Error('no process ids to look at');
  await waitUntil(
    () => !pids.some(alive),
    () => `still alive: ${pids.filter(alive).map((pid) => `${pid} ${commandLine(pid)}`).join(', ')}`,
  );
}

/**
 * The process ids in a file, one a line, as `write_pid` and `pidFile` write them. Empty when there is no file yet.
 * @param {string} file
 * @returns {number[]}
 */
function pidsFrom(file) {
  if (!fs.existsSync(file)) return [];
  return fs.readFileSync(file, 'utf8').split('\n').filter((line) => /^\d+$/.test(line)).map(Number);
}

/**
 * Waits until a file holds that many process ids.
 * @param {string} file
 * @param {number} count
 * @returns {Promise<number[]>}
 */
async function waitForPids(file, count) {
  await waitUntil(() => pidsFrom(file).length >= count, () => `${file} holds ${pidsFrom(file).length} of ${count} pids`);
  return pidsFrom(file);
}

/**
 * The processes whose environment holds `NAME=value`, this one excepted. One that cleared its environment is not found. On
 * Linux from /proc, on other Unix systems from `ps`; on Windows a foreign environment cannot be read, which is an error.
 * @param {string} mark
 * @returns {number[]}
 */
function survivors(mark) {
  if (process.platform === 'win32') throw new Error('the environment of a foreign process cannot be read on Windows');
  const pids = process.platform === 'linux' ? markedInProc(mark) : markedInPs(mark);
  return pids.filter((pid) => pid !== process.pid && alive(pid));
}

/**
 * @param {string} mark
 * @returns {number[]}
 */
function markedInProc(mark) {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
}

/**
 * @param {string} mark
 * @returns {number[]}
 */
function markedInPs(mark) {
  const list = execFileSync('ps', ['-axEww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return list.split('\n').filter((line) => line.split(/\s+/).includes(mark)).map((line) => Number.parseInt(line, 10));
}

/**
 * Waits until no process with the mark is alive.
 * @param {string} mark
 * @returns {Promise<void>}
 */
async function waitNoSurvivors(mark) {
  await waitUntil(
    () => survivors(mark).length === 0,
    () => `still alive with ${mark}: ${survivors(mark).map((pid) => `${pid} ${commandLine(pid)}`).join(', ')}`,
  );
}

/**
 * @param {number} pid
 * @returns {string}
 */
function commandLine(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

module.exports = { alive, exists, pidsFrom, survivors, waitForPids, waitGone, waitNoSurvivors, waitUntil };
