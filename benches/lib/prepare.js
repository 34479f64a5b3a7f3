'use strict';

// Builds and installs what the measurement needs. Nothing here is measured.

const { spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
const benches = path.join(root, 'benches');
/** Apart from the directory of the ordinary builds, so that neither invalidates the other. */
const target = path.join(root, 'target', 'bench');

/**
 * @typedef {object} Prepared
 * @property {string} flood The testkit's flood agent.
 * @property {string} floor
 * @property {string | undefined} addon The package's release build of the addon.
 * @property {Record<string, string>} missing Why a client cannot be measured, by its name.
 * @property {Record<string, string>} env What the measured processes need beside the environment of this one.
 */

/**
 * @param {{ build: boolean }} options
 * @returns {Promise<Prepared>}
 */
async function prepare({ build }) {
  if (build) {
    run('cargo', ['build', '--release', '-p', 'acp-testkit', '--bin', 'flood-agent', '--target-dir', target], root);
    run('cargo', ['build', '--release', '--bin', 'floor', '--target-dir', target], path.join(benches, 'native'));
    if (!existsSync(path.join(root, 'node_modules'))) run('npm', ['ci'], root);
    run('npm', ['run', 'build'], root);
  }
  installPeers();
  /** @type {Record<string, string>} */
  const missing = {};
  const addon = findAddon();
  if (!addon) missing.ours = missing['ours, typed'] = 'the addon is not built';
  const bundle = await bundleIncumbent();
  if (!bundle.file) missing.incumbent = bundle.reason;
  return {
    flood: program('flood-agent'),
    floor: program('floor'),
    addon,
    missing,
    env: bundle.file ? { BENCH_INCUMBENT_BUNDLE: bundle.file } : {},
  };
}

/** @param {string} name */
function program(name) {
  const file = path.join(target, 'release', process.platform === 'win32' ? `${name}.exe` : name);
  if (!existsSync(file)) throw new Error(`${path.relative(root, file)} is not built: run without --no-build`);
  return file;
}

/** Installs the peers that the lock file names, once. */
function installPeers() {
  const lock = readFileSync(path.join(benches, 'package-lock.json'), 'utf8');
  const stamp = path.join(benches, 'node_modules', '.installed-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  run('npm', ['ci', '--ignore-scripts'], benches);
  writeFileSync(stamp, lock);
}

/** The addon for this platform in the package's root. */
function findAddon() {
  const names = readdirSync(root).filter((name) => name.endsWith('.node'));
  return names.length === 1 ? path.join(root, names[0]) : undefined;
}

/**
 * Bundles the plugin that this package replaces out of a checkout of its repository. The checkout's own sources are
 * measured; nothing of them is kept here. Its one import from the rest of that repository is a function for redaction.
 *
 * @returns {Promise<{ file?: string, reason: string }>}
 */
async function bundleIncumbent() {
  const checkout = process.env.FUSION_CHECKOUT;
  if (!checkout) return { reason: 'FUSION_CHECKOUT is not set' };
  const entry = path.join(checkout, 'plugins', 'fusion-plugin-acp-runtime', 'src', 'runtime-adapter.ts');
  if (!existsSync(entry)) return { reason: 'FUSION_CHECKOUT has no plugins/fusion-plugin-acp-runtime' };
  const file = path.join(target, 'incumbent.mjs');
  mkdirSync(target, { recursive: true });
  const modules = path.join(benches, 'node_modules');
  const { build } = require('esbuild');
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: file,
    logLevel: 'error',
    nodePaths: [modules],
    alias: {
      '@fusion/core': path.join(checkout, 'packages', 'core', 'src', 'secrets', 'redact-secrets.ts'),
      '@agentclientprotocol/sdk': path.join(modules, '@agentclientprotocol', 'sdk-0.24'),
    },
  });
  return { file, reason: '' };
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 2, 2], // the table alone goes to standard output
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

module.exports = { prepare, root };
