'use strict';

// Generated files are committed so that a diff shows what changed for callers. Run after a build: the build must not
// have changed them. docs/protocol.md also fails where a rule has no test, or a row of the registry no golden transcript.

const { spawnSync } = require('node:child_process');
const path = require('node:path');

const { root, fail } = require('./common');

const GENERATED = ['binding.js', 'binding.d.ts'];

/** @param {string[]} args */
function git(args) {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (error || status !== 0) fail(`git ${args[0]} failed: ${error?.message ?? stderr}`);
  return stdout;
}

const stale = git(['status', '--porcelain', '--', ...GENERATED]);
if (stale) {
  process.stderr.write(git(['diff', '--', ...GENERATED]));
  fail(`Generated files are not committed as the build makes them. Build, look at the change, commit it:\n${stale}`);
}
process.stdout.write(`generated: ${GENERATED.join(', ')} are as the build makes them\n`);

for (const script of ['generate-protocol-types.js', 'generate-protocol-docs.js']) {
  const { status, error } = spawnSync(process.execPath, [path.join(__dirname, script), '--check'], { cwd: root, stdio: 'inherit' });
  if (error || status !== 0) fail(`scripts/${script} --check failed${error ? `: ${error.message}` : ''}`);
}
