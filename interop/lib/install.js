'use strict';

/** Installs agents into a cache directory: never into the repository, never in CI. */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');

/** @typedef {import('./table.js').AgentRow} AgentRow */

const STAMP = '.installed.json';

/** Where agents are installed: `$ACP_AGENTS_DIR`, else a cache directory in the user's home. */
function agentsDir() {
  if (process.env.ACP_AGENTS_DIR) return path.resolve(process.env.ACP_AGENTS_DIR);
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(cache, 'fusion-acp-runtime', 'agents');
}

/** @param {AgentRow} row */
function placesOf(row) {
  const dir = path.join(agentsDir(), row.installedBy ?? row.id);
  return { dir, bin: path.join(dir, row.install.npm ? 'node_modules/.bin' : 'venv/bin') };
}

/** @param {AgentRow} row true when exactly the row's packages are installed */
function isInstalled(row) {
  try {
    const stamp = JSON.parse(fs.readFileSync(path.join(placesOf(row).dir, STAMP), 'utf8'));
    return JSON.stringify(stamp.install) === JSON.stringify(row.install);
  } catch {
    return false;
  }
}

/**
 * @param {AgentRow} row
 * @throws {Error} when the package manager fails, or no fitting Python is found
 */
function install(row) {
  if (process.env.CI) throw new Error('agents are not installed in CI: they are hundreds of megabytes each');
  const { dir, bin } = placesOf(row);
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { recursive: true });
  if (row.install.npm) {
    run('npm', ['install', '--prefix', dir, '--no-audit', '--no-fund', '--loglevel=error', ...row.install.npm]);
  } else {
    run(findPython(row.install.python ?? '>=3.10'), ['-m', 'venv', path.join(dir, 'venv')]);
    run(path.join(bin, 'python'), [
      '-m',
      'pip',
      'install',
      '-q',
      '--disable-pip-version-check',
      ...(row.install.pip ?? []),
    ]);
  }
  fs.writeFileSync(path.join(dir, STAMP), JSON.stringify({ install: row.install, node: process.version }));
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} … exited with ${status}`);
}

/**
 * The oldest Python that fits, from `PATH`, pyenv, or uv.
 *
 * @param {string} range such as `>=3.12` or `>=3.11 <3.13`
 */
function findPython(range) {
  const [, from] = /** @type {string[]} */ (range.match(/>=3\.(\d+)/));
  const below = range.match(/<3\.(\d+)/);
  const last = below ? Number(below[1]) - 1 : Number(from) + 6;
  for (let minor = Number(from); minor <= last; minor++) {
    for (const candidate of [`python3.${minor}`, ...pyenv(minor), ...uv(minor)]) {
      // A pyenv shim exists for versions that are not active: only a start tells.
      if (spawnSync(candidate, ['-c', 'import venv']).status === 0) return candidate;
    }
  }
  throw new Error(`no Python ${range} on PATH, in pyenv or in uv`);
}

/** @param {number} minor */
function pyenv(minor) {
  const versions = path.join(process.env.PYENV_ROOT || path.join(os.homedir(), '.pyenv'), 'versions');
  try {
    const found = fs.readdirSync(versions).filter((name) => name.startsWith(`3.${minor}.`));
    return found.map((name) => path.join(versions, name, 'bin', 'python3'));
  } catch {
    return [];
  }
}

/** @param {number} minor */
function uv(minor) {
  const { status, stdout } = spawnSync('uv', ['python', 'find', `3.${minor}`], { encoding: 'utf8' });
  return status === 0 ? [stdout.trim()] : [];
}

module.exports = { agentsDir, findPython, install, isInstalled, placesOf };
