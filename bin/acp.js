#!/usr/bin/env node
'use strict';

const { main } = require('../lib/cli');

void main({
  argv: process.argv.slice(2),
  // Loaded only by a command that needs it, so that help works where the addon does not.
  api: () => require('../index.js'),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signals: process,
}).then((code) => {
  process.exitCode = code;
});
