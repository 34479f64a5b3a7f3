'use strict';

/**
 * Writes `protocol.d.ts` from `schema/acp-v1.schema.json`.
 *
 *   node scripts/generate-protocol-types.js            regenerate the types
 *   node scripts/generate-protocol-types.js --schema   export the schema from the crate first (needs cargo)
 *   add --check                                        write nothing; exit 1 when a committed file is stale
 */

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { render } = require('./lib/protocol-types.js');

const ROOT = path.join(__dirname, '..');
const SCHEMA = path.join(ROOT, 'schema', 'acp-v1.schema.json');
const TYPES = path.join(ROOT, 'protocol.d.ts');
const TOOL = path.join(ROOT, 'tools', 'schema-export', 'Cargo.toml');
const CRATE = 'agent-client-protocol-schema';

/**
 * The exact version that a manifest pins.
 *
 * @param {string} manifest path of a Cargo.toml
 * @returns {string}
 */
function pinnedVersion(manifest) {
  const line = fs.readFileSync(manifest, 'utf8').split('\n').find((text) => text.startsWith(`${CRATE} `));
  const match = /version = "=([^"]+)"/.exec(line ?? '');
  if (!match) throw new Error(`${manifest} does not pin ${CRATE} to an exact version`);
  return match[1];
}

/**
 * Runs the export tool. Its build goes to a target directory of its own: other features, other artefacts.
 *
 * @returns {string} the schema as text
 */
function exportSchema() {
  const env = { ...process.env, CARGO_TARGET_DIR: path.join(ROOT, 'target', 'schema-export') };
  const args = ['run', '--quiet', '--locked', '--manifest-path', TOOL];
  return execFileSync('cargo', args, { env, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'inherit'] });
}

/**
 * @param {string[]} argv
 * @returns {number} the exit code
 */
function main(argv) {
  const unknown = argv.filter((arg) => arg !== '--check' && arg !== '--schema');
  if (unknown.length > 0) throw new Error(`unknown argument: ${unknown.join(' ')}`);
  const check = argv.includes('--check');
  /** @type {string[]} */
  const stale = [];

  /** @param {string} file @param {string} text */
  const put = (file, text) => {
    const current = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    if (current === text) return;
    if (check) stale.push(path.relative(ROOT, file));
    else fs.writeFileSync(file, text);
  };

  const schemaText = argv.includes('--schema') ? exportSchema() : fs.readFileSync(SCHEMA, 'utf8');
  const schema = JSON.parse(schemaText);
  const wanted = pinnedVersion(path.join(ROOT, 'Cargo.toml'));
  for (const [what, version] of [['the export tool', pinnedVersion(TOOL)], ['the schema', schema['x-crate-version']]]) {
    if (version !== wanted) throw new Error(`Cargo.toml pins ${CRATE} ${wanted}, but ${what} is of ${version}`);
  }
  put(SCHEMA, schemaText);
  put(TYPES, render(schema));
  if (stale.length === 0) return 0;
  console.error(`stale: ${stale.join(', ')}; run node scripts/generate-protocol-types.js`);
  return 1;
}

if (require.main === module) process.exitCode = main(process.argv.slice(2));

module.exports = { main };
