'use strict';

// Counts the instructions that the core spends on one update: node scripts/callgrind.js
// Runs `benches/native/src/bin/decode.rs` under callgrind at two sizes; the difference leaves out what happens once.
// Instructions, unlike times, hardly depend on what else the machine does.

const { execFileSync, spawnSync } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const root = path.join(__dirname, '..');
const native = path.join(root, 'benches', 'native');
const target = path.join(root, 'target', 'bench');
const program = path.join(target, 'release', 'decode');
const SIZES = [10_000, 30_000];
const VIEWS = ['callbacks', 'events'];
const KINDS = ['text', 'tools'];

/**
 * @param {string} directory
 * @param {string} view
 * @param {string} kind
 * @param {number} updates
 * @returns {number} Instructions of the whole run.
 */
function instructions(directory, view, kind, updates) {
  const out = path.join(directory, `${view}-${kind}-${updates}.out`);
  const args = ['--tool=callgrind', `--callgrind-out-file=${out}`, program, view, kind, String(updates)];
  const { status, stderr, error } = spawnSync('valgrind', args, { encoding: 'utf8' });
  if (error) throw error;
  const refs = /I\s+refs:\s+([\d,]+)/.exec(stderr);
  if (status !== 0 || !refs) throw new Error(stderr);
  return Number(refs[1].replaceAll(',', ''));
}

function main() {
  const build = ['build', '--release', '--features', 'core', '--bin', 'decode', '--target-dir', target];
  execFileSync('cargo', build, { cwd: native, stdio: ['ignore', 2, 2] });
  const directory = mkdtempSync(path.join(tmpdir(), 'acp-callgrind-'));
  try {
    for (const [view, kind] of VIEWS.flatMap((view) => KINDS.map((kind) => [view, kind]))) {
      const [small, large] = SIZES.map((size) => instructions(directory, view, kind, size));
      const each = (large - small) / (SIZES[1] - SIZES[0]);
      const rest = small - each * SIZES[0];
      process.stdout.write(
        `${view}, ${kind}: ${each.toFixed(0)} instructions per update, ${(rest / 1e6).toFixed(2)} million once\n`,
      );
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

main();
