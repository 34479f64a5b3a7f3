'use strict';

// `npm test`: builds what is tested and runs both suites. Flags: --js-only, --rust-only; other arguments name JS test files.

const path = require('node:path');

const { checkToolchain } = require('./check-toolchain');
const { root, tee, fail, filesBelow, ensureInstalled, buildAddon } = require('./common');

/** After how long one JS test counts as hanging, in milliseconds. */
const TEST_TIMEOUT = 60_000;
/** After how many minutes a whole suite counts as hanging; the first includes building what `buildAddon` left. */
const SUITE_MINUTES = { rust: 15, node: 10 };

/** @param {string} output @param {RegExp} pattern With one number as its first group. */
function sum(output, pattern) {
  let total = 0;
  for (const match of output.matchAll(pattern)) total += Number(match[1]);
  return total;
}

/** @param {string} name @param {number} passed @param {number} failed @param {number} skipped */
const closing = (name, passed, failed, skipped) => `${name}: ${passed} passed, ${failed} failed, ${skipped} skipped`;

async function rust() {
  const { status, output } = await tee('cargo', ['test', '--workspace', '--no-fail-fast'], SUITE_MINUTES.rust);
  const count = (/** @type {string} */ word) => sum(output, new RegExp(`^test result: .*?(\\d+) ${word}`, 'gm'));
  return { status, line: closing('rust', count('passed'), count('failed'), count('ignored')) };
}

/** @param {string[]} named */
async function js(named) {
  const files =
    named.length > 0
      ? named.map((file) => path.resolve(file))
      : filesBelow('__test__', (file) => /\.test\.m?js$/.test(file));
  if (files.length === 0) fail('There are no JavaScript tests below __test__.');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const timeout = major > 20 || minor >= 11 ? [`--test-timeout=${TEST_TIMEOUT}`] : [];
  const relative = files.map((file) => path.relative(root, file));
  const command = ['--test', '--test-reporter=spec', ...timeout, ...relative];
  const { status, output } = await tee(process.execPath, command, SUITE_MINUTES.node);
  const count = (/** @type {string} */ word) => sum(output, new RegExp(`^\\S+ ${word} (\\d+)$`, 'gm'));
  const skipped = count('skipped') + count('todo');
  return { status, line: closing('node', count('pass'), count('fail') + count('cancelled'), skipped) };
}

async function main() {
  const args = process.argv.slice(2);
  const jsOnly = args.includes('--js-only');
  const rustOnly = args.includes('--rust-only');
  const named = args.filter((arg) => !arg.startsWith('--'));

  checkToolchain();
  ensureInstalled();
  if (!rustOnly) buildAddon({ withTests: !jsOnly });

  const results = [];
  if (!jsOnly) results.push(await rust());
  if (!rustOnly) results.push(await js(named));
  process.stdout.write(`\n${results.map(({ line }) => line).join('\n')}\n`);
  process.exitCode = results.find(({ status }) => status !== 0)?.status ?? 0;
}

void main();
