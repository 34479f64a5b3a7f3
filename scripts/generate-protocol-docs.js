'use strict';

// Writes docs/protocol.md from schema/registry.json, the rules, the tests and the golden transcripts.
//
//   node scripts/generate-protocol-docs.js           writes it
//   node scripts/generate-protocol-docs.js --check   writes nothing; fails when it is stale
//
// Either way it fails when a rule has no test, a row has no golden transcript, or a test or file that is named is not there.
// schema/registry.json is checked, and with UPDATE_EXPECT=1 written, by a test of the core.

const fs = require('node:fs');
const path = require('node:path');

const { fail, filesBelow, root } = require('./common');
const { render } = require('./lib/protocol-docs');
const { rules } = require('./lib/protocol-rules');
const { tests } = require('./lib/test-names');

const FILE = path.join(root, 'docs', 'protocol.md');
const GOLDENS = path.join(root, 'crates', 'acp-testkit', 'tests', 'transcripts');

/** Texts of files by their paths. @param {string} folder @param {(file: string) => boolean} accept @param {string} from */
function texts(folder, accept, from) {
  /** @param {string} file */
  const name = (file) => path.relative(from, file).split(path.sep).join('/');
  return filesBelow(folder, accept).map((file) => /** @type {[string, string]} */ ([name(file), fs.readFileSync(file, 'utf8')]));
}

function facts() {
  /** @param {string} file */
  const isCode = (file) => /\.(rs|js)$/.test(file) && !/(_tests\.rs|[\\/]registry\.rs)$/.test(file);
  // What a file says in its tests is no implementation.
  const code = ['crates/acp-runtime/src', 'lib/client', 'lib/native'].flatMap((folder) => texts(folder, isCode, root));
  const sources = code.map(([file, text]) => /** @type {[string, string]} */ ([file, text.split(/#\[cfg\(test\)\]\s*mod\s+\w+\s*\{/)[0]]));
  const goldens = texts(GOLDENS, (file) => file.endsWith('.jsonl'), GOLDENS)
    .map(([file, text]) => /** @type {[string, string]} */ ([file.replace(/\.jsonl$/, ''), text]));
  const schema = JSON.parse(fs.readFileSync(path.join(root, 'schema', 'acp-v1.schema.json'), 'utf8'));
  return {
    registry: JSON.parse(fs.readFileSync(path.join(root, 'schema', 'registry.json'), 'utf8')),
    version: schema['x-crate-version'],
    rules: rules(),
    tests: tests(),
    sources: new Map(sources),
    goldens: new Map(goldens),
    exists: (/** @type {string} */ file) => fs.existsSync(path.join(root, file)),
  };
}

/** @param {string[]} argv */
function main(argv) {
  const unknown = argv.filter((arg) => arg !== '--check');
  if (unknown.length > 0) fail(`unknown argument: ${unknown.join(' ')}`);
  const { text, problems } = render(facts());
  if (problems.length > 0) fail(`docs/protocol.md would not be true:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  const current = fs.existsSync(FILE) ? fs.readFileSync(FILE, 'utf8').replaceAll('\r\n', '\n') : '';
  if (current === text) {
    process.stdout.write('docs/protocol.md is current\n');
    return;
  }
  if (argv.includes('--check')) fail('docs/protocol.md is stale: run node scripts/generate-protocol-docs.js and commit it');
  fs.writeFileSync(FILE, text);
  process.stdout.write('wrote docs/protocol.md\n');
}

if (require.main === module) main(process.argv.slice(2));

module.exports = { facts };
