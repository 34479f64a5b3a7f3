'use strict';

// Generated files are committed so that a diff shows what changed for callers. Run after a build: the build must not
// have changed them.

const { spawnSync } = require('node:child_process');

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
