'use strict';

// `acp trace` and `acp replay`, with the real package.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { defaultAgentPath } = require('../..');
const { acp, ends, folder, prompted, says, transcript } = require('./support');

const agent = ['--', process.execPath, defaultAgentPath()];

test('a conversation is recorded and played again', async (t) => {
  const file = path.join(folder(t), 'bug.jsonl');
  const recorded = await acp(['trace', '--out', file, 'hello [plain]', 'again [plain]', ...agent]);
  assert.deepEqual([recorded.code, recorded.stderr], [0, '']);
  assert.match(recorded.stdout, /You wrote 1 word: hello\n.*\nYou wrote 1 word: again\n$/s);
  if (process.platform !== 'win32') assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  const shown = await acp(['replay', file]);
  assert.deepEqual([shown.code, shown.stderr], [0, '']);
  assert.match(shown.stdout, /^fusion-acp-default-agent .* messages from it[^]*turn 2: end_turn[^]*\nas recorded\n$/);
  const verbose = await acp(['replay', '-v', file]);
  assert.match(verbose.stdout, / {2}\| You wrote 1 word: hello/);
  const { ok, turns, divergence } = JSON.parse((await acp(['replay', '--json', file])).stdout);
  assert.deepEqual([ok, turns.length, divergence], [true, 2, undefined]);
  assert.deepEqual(Object.keys(turns[0]).sort(), ['events', 'sessionId', 'stopReason', 'text', 'toolCalls', 'usage']);
});

test('prompts come from standard input and the recording goes to standard output', async () => {
  const { code, stdout } = await acp(['trace', ...agent], 'one [plain]\n\ntwo [plain]\n');
  assert.equal(code, 0);
  const [header, ...lines] = stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.equal(header.transcript, 1);
  assert.equal(lines.filter(({ frame }) => frame?.method === 'session/prompt').length, 2);
  assert.ok(lines.every(({ t, dir, frame }) => t >= 0 && /^(in|out)$/.test(dir) && typeof frame === 'object'));
});

test('secrets are not recorded', async (t) => {
  const file = path.join(folder(t), 'x.jsonl');
  const prompt = 'my password=hunter22 [plain]';
  assert.equal((await acp(['trace', '-o', file, prompt, ...agent])).code, 0);
  assert.ok(!fs.readFileSync(file, 'utf8').includes('hunter22'));
  assert.equal((await acp(['replay', file])).code, 0);
});

test('a difference is told and makes the exit code 1', async (t) => {
  const file = path.join(folder(t), 'x.jsonl');
  const cancel = { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's2' } };
  fs.writeFileSync(file, transcript([...prompted(), says('a'), ['out', cancel], ends()]));
  const { code, stdout } = await acp(['replay', '--timeout', '300', file]);
  assert.equal(code, 1);
  assert.match(stdout, /differs at line 8: the client did not send the notification session\/cancel\n$/);
});

test('wrong usage is told', async (t) => {
  const file = path.join(folder(t), 'x.jsonl');
  fs.writeFileSync(file, 'nonsense');
  for (const [argv, text] of /** @type {Array<[string[], RegExp]>} */ ([
    [['replay'], /takes one file/],
    [['replay', 'a', 'b'], /takes one file/],
    [['replay', path.join(file, 'none')], /ENOTDIR|ENOENT/],
    [['replay', file], /line 1 is not JSON/],
    [['replay', '--nonsense', file], /nonsense/],
    [['trace', '--json', ...agent], /JSON lines already/],
    [['trace', '--'], /no program after --/],
    [['trace', '--out', path.join(file, 'none'), 'hi', ...agent], /--out: /],
  ])) {
    const { code, stderr } = await acp(argv);
    assert.equal(code, 2, argv.join(' '));
    assert.match(stderr, text);
  }
  for (const name of ['trace', 'replay']) {
    const { code, stdout, stderr } = await acp([name, '--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^Usage: acp ${name}`));
    for (const line of stdout.split('\n')) assert.ok(line.length <= 120, line);
  }
});

test('a failed launch or turn is told', async (t) => {
  const file = path.join(folder(t), 'x.jsonl');
  assert.equal((await acp(['trace', '-o', file, 'hi', '--', 'no-such-program-anywhere'])).code, 127);
  const failed = await acp(['trace', '-o', file, '[fail]', ...agent]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /asked to fail/);
  assert.equal((await acp(['replay', file])).code, 0);
});
