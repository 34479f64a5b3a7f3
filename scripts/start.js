'use strict';

// `npm start`: from a fresh clone to a real answer. Everything after `--` goes to `acp ask`.

const { spawn } = require('node:child_process');
const path = require('node:path');

const { checkToolchain } = require('./check-toolchain');
const { root, say, ensureInstalled, ensureBuilt } = require('./common');

const DEFAULT_PROMPT = 'What are you, and what can this runtime do with you?';

function main() {
  checkToolchain();
  ensureInstalled();
  ensureBuilt();

  const args = process.argv.slice(2);
  if (args.length === 0) {
    say('asking the built-in demo agent; for a real one: npm start -- --agent "<command line>" "<prompt>"');
    args.push(DEFAULT_PROMPT);
  }
  const child = spawn(process.execPath, [path.join(root, 'bin', 'acp.js'), 'ask', ...args], { stdio: 'inherit' });
  // Ctrl-C reaches the child as well, which ends its agent first.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

main();
