'use strict';

const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const root = path.dirname(__dirname);

// The addon is built for a named target, which has a directory of its own; with this, tests and checks share it instead
// of building every crate twice.
process.env.CARGO_BUILD_TARGET ||= hostTarget();

/** @returns {string} The platform that cargo builds for, or nothing where there is no Rust. */
function hostTarget() {
  const { stdout } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' });
  return /^host: (.+)$/m.exec(stdout ?? '')?.[1] ?? '';
}

/** Ends the script with one clear line. @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Says what the script is doing. @param {string} message */
function say(message) {
  process.stderr.write(`> ${message}\n`);
}

/**
 * How npm is started: with the npm that runs this script, where one does. Nowhere is a shell involved.
 *
 * @returns {[string, ...string[]]}
 */
function npm() {
  const script = process.env.npm_execpath;
  if (script && /npm-cli\.js$/.test(script)) return [process.execPath, script];
  const beside = path.join(path.dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  return fs.existsSync(beside) ? [process.execPath, beside] : ['npm'];
}

/**
 * Runs a program in the project's folder, with this terminal. Ends the script when it fails.
 *
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  say([path.basename(command), ...args].join(' '));
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? (signal ? 1 : 0));
}

/**
 * Runs a program, shows what it prints as it comes, and hands back its standard output. One that is not done in time is
 * ended with what it started, and counts as failed.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {number} minutes
 * @returns {Promise<{ status: number, output: string }>}
 */
function tee(command, args, minutes) {
  const name = [path.basename(command), ...args].join(' ');
  say(name);
  return new Promise((resolve) => {
    // A group of its own, so that all of it can be ended. Windows has none.
    const detached = process.platform !== 'win32';
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached });
    const end = (/** @type {NodeJS.Signals} */ signal) => {
      try {
        if (child.pid !== undefined) process.kill(detached ? -child.pid : child.pid, signal);
      } catch {
        // It is gone.
      }
    };
    const hand = (/** @type {NodeJS.Signals} */ signal) => {
      end(signal);
      process.exitCode = 130;
    };
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, hand);
    let late = false;
    const clock = setTimeout(() => {
      late = true;
      say(`not done after ${minutes} minutes, ended: ${name}`);
      end('SIGKILL');
    }, minutes * 60_000);
    /** @type {Buffer[]} */
    const parts = [];
    child.stdout.on('data', (part) => {
      parts.push(part);
      process.stdout.write(part);
    });
    const done = (/** @type {number | null} */ code) => {
      clearTimeout(clock);
      for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.removeListener(signal, hand);
      child.stdout.destroy();
      resolve({ status: late ? 1 : (code ?? 1), output: Buffer.concat(parts).toString('utf8') });
    };
    child.on('error', (error) => fail(`${command} could not be started: ${error.message}`));
    // What it left behind may hold its output open for ever.
    child.on('exit', (code) => {
      const patience = setTimeout(() => done(code), 5_000);
      child.on('close', () => {
        clearTimeout(patience);
        done(code);
      });
    });
  });
}

/**
 * Every file below a folder that the test accepts.
 *
 * @param {string} folder Relative to the project's folder, or absolute.
 * @param {(file: string) => boolean} accept
 * @returns {string[]} Absolute paths, sorted.
 */
function filesBelow(folder, accept) {
  const start = path.resolve(root, folder);
  if (!fs.existsSync(start)) return [];
  return fs
    .readdirSync(start, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .filter(accept)
    .sort();
}

/** @param {string} file @returns {number} When the file last changed, in milliseconds; 0 when there is none. */
function changed(file) {
  return fs.statSync(path.resolve(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Installs the development tools when they are missing or older than the lock file. */
function ensureInstalled() {
  const installed = changed('node_modules/.package-lock.json');
  if (installed !== 0 && installed >= changed('package-lock.json')) return;
  const [command, ...args] = npm();
  run(command, [...args, 'ci', '--loglevel=error']);
}

/** The flags that every build of the addon shares; `package.json` has the same. */
const BUILD = ['build', '--platform', '--no-const-enum', '--js', 'binding.js', '--dts', 'binding.d.ts'];

/**
 * What makes cargo build the addon together with the tests. A test needs features of some crates that the addon alone
 * does not; chosen together, both are built from the same artefacts instead of everything twice.
 */
const WITH_TESTS = ['--', '--workspace', '--lib', '--bins', '--tests'];

/** Builds the addon with the dev profile. @param {{ withTests?: boolean }} [options] */
function buildAddon({ withTests = false } = {}) {
  const cli = require.resolve('@napi-rs/cli/package.json', { paths: [root] });
  const { bin } = require(cli);
  run(process.execPath, [path.join(path.dirname(cli), bin.napi), ...BUILD, ...(withTests ? WITH_TESTS : [])]);
}

/** Builds the addon when there is none, or when a source is newer than it. */
function ensureBuilt() {
  const addons = fs.readdirSync(root).filter((name) => name.endsWith('.node'));
  const built = addons.length === 0 ? 0 : Math.max(...addons.map(changed));
  const sources = ['src', 'crates/acp-runtime'].flatMap((folder) => filesBelow(folder, (file) => !file.endsWith('.md')));
  const newest = Math.max(...['Cargo.toml', 'Cargo.lock', 'build.rs', ...sources].map(changed));
  if (built < newest || changed('binding.js') === 0) buildAddon();
}

module.exports = { root, fail, say, run, tee, filesBelow, ensureInstalled, ensureBuilt, buildAddon };
