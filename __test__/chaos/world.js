'use strict';

// What must hold outside of an episode, when all of it is over.

const fs = require('node:fs');
const { activeProcessCount } = require('../..');
const { getHub } = require('../../lib/native/hub.js');
const { survivors, waitUntil } = require('../support/process.js');

const linux = process.platform === 'linux';

/** The children of this process, collected or not. */
function children() {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === process.pid;
    } catch {
      return false; // it ended meanwhile
    }
  });
}

const count = (/** @type {string} */ folder) => (linux ? fs.readdirSync(folder).length : 0);

/** What this process holds, by name. */
function held() {
  const hub = getHub();
  return {
    descriptors: count('/proc/self/fd'),
    threads: count('/proc/self/task'),
    children: linux ? children().length : 0,
    agents: activeProcessCount(),
    promises: hub.waiting.size,
    channels: hub.channels.size,
    clock: hub.alive === undefined ? 0 : 1,
  };
}

/**
 * What is left of episodes that are over: nothing, as soon as what is on its way out has gone.
 *
 * @param {ReturnType<typeof held>} before
 * @param {string} mark In the environment of every agent: `NAME=value`.
 * @returns {Promise<string[]>} What was left all the same.
 */
async function leftovers(before, mark) {
  const more = () => Object.entries(held())
    .filter(([name, n]) => n > before[/** @type {keyof typeof before} */ (name)])
    .map(([name, n]) => `${name}: ${before[/** @type {keyof typeof before} */ (name)]} before, ${n} after`);
  const processes = () => (process.platform === 'win32' ? [] : survivors(mark)).map((pid) => `process ${pid} lives`);
  const all = () => [...more(), ...processes()];
  try {
    await waitUntil(() => all().length === 0, '');
    return [];
  } catch {
    return all();
  }
}

module.exports = { held, leftovers };
