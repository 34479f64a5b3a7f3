'use strict';

/**
 * The files by which the tools' MCP server learns what there is to offer. A file goes with its bridge, at the latest when
 * Node exits. What a killed host left behind goes with the next host's first file.
 */

const { randomUUID } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const PREFIX = 'fusion-acp-mcp-schemas-';
const NAME = /^fusion-acp-mcp-schemas-(\d{1,10})-[0-9a-f-]{36}\.json$/;
/** Files of processes that are gone are kept that long: a process id says little where containers share a directory. */
const STALE_MS = 24 * 60 * 60_000;
/** Files removed at most in one sweep. */
const SWEEP_LIMIT = 1000;

/** @type {Set<string>} */
const files = new Set();
let started = false;

function start() {
  if (started) return;
  started = true;
  process.on('exit', () => {
    for (const file of files) fs.rmSync(file, { force: true });
  });
  sweep(os.tmpdir()).catch(() => {});
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH';
  }
}

/**
 * Removes the files of hosts that were killed.
 *
 * @param {string} directory
 * @param {number} [now] milliseconds since the epoch
 */
async function sweep(directory, now = Date.now()) {
  const names = (await fs.promises.readdir(directory)).filter((name) => name.startsWith(PREFIX));
  for (const name of names.slice(0, SWEEP_LIMIT)) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const file = path.join(directory, name);
    // Not followed: only a file of that name is ours.
    const found = await fs.promises.lstat(file).catch(() => undefined);
    if (found?.isFile() && now - found.mtimeMs > STALE_MS) await fs.promises.rm(file, { force: true }).catch(() => {});
  }
}

/**
 * @param {string} content
 * @returns {string} the file's path
 */
function writeSchemaFile(content) {
  start();
  const file = path.join(os.tmpdir(), `${PREFIX}${process.pid}-${randomUUID()}.json`);
  fs.writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
  files.add(file);
  return file;
}

/** @param {string} file */
function removeSchemaFile(file) {
  files.delete(file);
  fs.rmSync(file, { force: true });
}

module.exports = { writeSchemaFile, removeSchemaFile, sweep, STALE_MS };
