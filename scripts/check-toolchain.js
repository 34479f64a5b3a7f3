'use strict';

// Says in one line what is missing before a build would say it in a hundred.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { root, fail } = require('./common');

/**
 * Compares two version numbers, part by part.
 *
 * @param {string} version Such as `1.95.0`.
 * @param {string} least Such as `1.88`.
 */
function atLeast(version, least) {
  const have = version.split('.').map(Number);
  const want = least.split('.').map(Number);
  for (let part = 0; part < want.length; part++) {
    if ((have[part] ?? 0) !== want[part]) return (have[part] ?? 0) > want[part];
  }
  return true;
}

/** The first version number that a program prints. @param {string} command @returns {string | undefined} */
function versionOf(command) {
  const { stdout } = spawnSync(command, ['--version'], { cwd: root, encoding: 'utf8' });
  return /\d+\.\d+(\.\d+)?/.exec(stdout ?? '')?.[0];
}

/**
 * What keeps this machine from building the project.
 *
 * @param {{ node: string, rust: string }} least The oldest versions that will do.
 * @param {(command: string) => string | undefined} version
 * @returns {string | undefined} One line, or nothing when all is well.
 */
function problem(least, version) {
  const node = process.versions.node;
  if (!atLeast(node, least.node)) return `Node ${node} is too old: install Node ${least.node} or newer.`;
  for (const command of ['rustc', 'cargo']) {
    const found = version(command);
    if (!found) return `${command} was not found: install Rust ${least.rust} or newer (rustup is the usual way).`;
    if (!atLeast(found, least.rust)) return `${command} ${found} is too old: install Rust ${least.rust} or newer.`;
  }
  if (process.platform !== 'win32' && !version('cc')) return 'cc was not found: Rust needs a C compiler to link with.';
  return undefined;
}

/** The oldest versions that will do, from the manifests. */
function required() {
  const cargo = fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8');
  const rust = /^rust-version\s*=\s*"([\d.]+)"/m.exec(cargo)?.[1];
  const node = /\d[\d.]*/.exec(require('../package.json').engines.node)?.[0];
  if (!rust || !node) return fail('Cargo.toml has no rust-version, or package.json no engines.node.');
  return { node, rust };
}

function checkToolchain() {
  const found = problem(required(), versionOf);
  if (found) fail(found);
}

if (require.main === module) checkToolchain();

module.exports = { checkToolchain, problem, atLeast, required };
