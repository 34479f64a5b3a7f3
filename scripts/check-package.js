'use strict';

// What npm would find out too late: that a file of the package is missing, or that its platform packages do not fit it.
// `--tag v1.2.3` also compares the version with the tag; `--publish` also wants the platform packages as dependencies.

const fs = require('node:fs');
const path = require('node:path');

const manifest = require('../package.json');
const { root, fail } = require('./common');

/**
 * Every file that the manifest promises.
 *
 * @param {unknown} value
 * @returns {string[]}
 */
function promised(value) {
  if (typeof value === 'string') return [value];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(promised);
}

/** @param {string} file */
const exists = (file) => fs.existsSync(path.join(root, file));

/** @returns {Record<string, any>[]} The manifests of the platform packages. */
function platformManifests() {
  return fs
    .readdirSync(path.join(root, 'npm'))
    .map((folder) => JSON.parse(fs.readFileSync(path.join(root, 'npm', folder, 'package.json'), 'utf8')));
}

/** @param {string[]} args @returns {string[]} What is wrong. */
function problems(args) {
  const found = [];
  const { main, types, bin, files, version } = manifest;
  const paths = [...promised(manifest.exports), ...promised(bin), main, types, ...files.filter((file) => !file.startsWith('!'))];
  for (const file of new Set(paths)) if (!exists(file)) found.push(`${file} is in package.json but not there`);

  const platforms = platformManifests();
  const { targets } = manifest.napi;
  if (platforms.length !== targets.length) found.push(`${targets.length} targets, but ${platforms.length} folders in npm/`);
  for (const one of platforms) {
    if (one.version !== version) found.push(`${one.name} has the version ${one.version}, not ${version}`);
    if (one.engines.node !== manifest.engines.node) found.push(`${one.name} wants another Node`);
  }

  const cargo = /^version = "(.*)"/m.exec(fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8'))?.[1];
  if (cargo !== version) found.push(`Cargo.toml has the version ${cargo}, not ${version}`);

  const tag = args.includes('--tag') ? args[args.indexOf('--tag') + 1] : undefined;
  if (tag !== undefined && tag !== `v${version}`) found.push(`the tag is ${tag}, the version ${version}`);

  if (args.includes('--publish')) {
    /** @type {Record<string, string>} */
    const optional = /** @type {any} */ (manifest).optionalDependencies ?? {};
    for (const { name } of platforms) {
      if (optional[name] !== version) found.push(`${name} is no optional dependency: publish as docs/releasing.md says`);
    }
  }
  return found;
}

const found = problems(process.argv.slice(2));
if (found.length > 0) fail(found.join('\n'));
process.stdout.write('package: its files and platform packages are there\n');
