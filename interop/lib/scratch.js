'use strict';

/** A scratch HOME, working directory and environment for one case of one agent. */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { randomBytes } = require('node:crypto');
const { placesOf } = require('./install.js');
const { fill } = require('./table.js');

/** Carried by every process of a case, unless an agent clears its children's environment. */
const MARK_NAME = 'ACP_INTEROP_MARK';
/** Every scratch folder's name starts so. */
const PREFIX = 'acp-interop-';

/**
 * @typedef {object} Scratch
 * @property {string} mark unique; part of the folder's name and a variable of the environment
 * @property {string} cwd the agent's working directory
 * @property {string} command
 * @property {string[]} args
 * @property {Record<string, string>} env the agent's whole environment
 * @property {() => void} remove
 */

/**
 * @param {import('./table.js').AgentRow} row
 * @param {number} port of the fake model
 * @returns {Scratch}
 */
function makeScratch(row, port) {
  const mark = `${PREFIX}${randomBytes(6).toString('hex')}`;
  const root = path.join(fs.realpathSync(os.tmpdir()), mark);
  const home = path.join(root, 'home');
  const cwd = path.join(root, 'work');
  const temp = path.join(root, 'tmp');
  for (const dir of [home, cwd, temp]) fs.mkdirSync(dir, { recursive: true });
  const nodeDir = path.dirname(process.execPath);
  const places = {
    ...placesOf(row),
    kit: path.join(__dirname, '..'),
    node: process.execPath,
    nodeDir,
    home,
    cwd,
    port: String(port),
  };
  for (const [name, content] of Object.entries(row.home)) {
    const file = path.join(home, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const value = fill(content, places);
    fs.writeFileSync(file, typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`);
  }
  const [command, ...args] = fill(row.command, places);
  return {
    mark,
    cwd,
    command,
    args,
    env: {
      PATH: `${nodeDir}:/usr/local/bin:/usr/bin:/bin`,
      HOME: home,
      TMPDIR: temp,
      USER: 'interop',
      LANG: 'C.UTF-8',
      [MARK_NAME]: mark,
      ...fill(row.env, places),
    },
    // A process that was just ended may still be writing: one more try is enough in practice.
    remove: () => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

module.exports = { makeScratch, MARK_NAME, PREFIX };
