'use strict';

const assert = require('node:assert/strict');
const { execFile } = require('node:child_process');
const path = require('node:path');
const test = require('node:test');
const { promisify } = require('node:util');

const { version } = require('../../package.json');
const { acp } = require('./world');

for (const argv of [
  [],
  ['nonsense'],
  ['constructor'],
  ['--nonsense'],
  ['ask'],
  ['ask', ''],
  ['ask', '-'],
  ['ask', '--nonsense', 'hi'],
  ['ask', '--agent', 'a', '--cmd', 'b', 'hi'],
  ['ask', '--agent', '"a', 'hi'],
  ['ask', '--agent', '', 'hi'],
  ['ask', '--cmd', '', 'hi'],
  ['ask', 'hi', '--', 'x'],
  ['ask', '--timeout', '0', 'hi'],
  ['ask', '--timeout', 'soon', 'hi'],
  ['ask', '--timeout', '99999999999', 'hi'],
  ['ask', '--env', '=x', 'hi'],
  ['probe', 'gemini'],
  ['login', 'me'],
  ['probe', '--allow'],
]) {
  test(`acp ${argv.map((arg) => JSON.stringify(arg)).join(' ')} is wrong usage`, async () => {
    const { code, stdout, stderr, seen } = await acp(argv);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.notEqual(stderr, '');
    assert.doesNotMatch(stderr, /positional/);
    assert.equal(seen.launch, undefined);
  });
}

for (const argv of [['--help'], ['-h'], ['help'], ['ask', '--help'], ['probe', '-h'], ['login', '-h']]) {
  test(`acp ${argv.join(' ')} helps`, async () => {
    const { code, stdout, stderr } = await acp(argv);
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: acp /);
    assert.equal(stderr, '');
    for (const line of stdout.split('\n')) assert.ok(line.length <= 120, line);
  });
}

test('the script itself tells its version and its exit code', async () => {
  const script = path.join(__dirname, '..', '..', 'bin', 'acp.js');
  const run = promisify(execFile);
  assert.equal((await run(process.execPath, [script, '--version'])).stdout, `${version}\n`);
  await assert.rejects(run(process.execPath, [script, 'nonsense']), { code: 2 });
});
