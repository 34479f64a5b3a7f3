'use strict';

// Conversations that were recorded from real agents, played against the runtime.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { activeProcessCount } = require('../..');
const { expectedTurns } = require('../../lib/replay/expected');
const { parseTranscript } = require('../../lib/replay');
const { played } = require('./support');

const FOLDER = path.join(__dirname, '..', '..', 'crates', 'acp-testkit', 'transcripts', 'real');
/** How many different agents there are at least. */
const AT_LEAST = 10;

const files = fs.readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'));

test(`there are at least ${AT_LEAST} transcripts of different agents`, () => {
  const agents = new Set(files.map((file) => parseTranscript(fs.readFileSync(path.join(FOLDER, file), 'utf8')).header.agent));
  assert.ok(agents.size >= AT_LEAST, [...agents].join(', '));
});

for (const file of files) {
  test(file, async (t) => {
    const text = fs.readFileSync(path.join(FOLDER, file), 'utf8');
    const recorded = expectedTurns(parseTranscript(text).entries);
    const { ok, turns, divergence, unexpected, error } = await played(t, text);
    assert.deepEqual([divergence, error, unexpected, ok], [undefined, undefined, [], true]);
    assert.deepEqual(turns.map(({ text: answer }) => answer), recorded.map(({ text: answer }) => answer));
    assert.deepEqual(turns.map(({ toolCalls }) => toolCalls), recorded.map(({ toolCalls }) => toolCalls));
    for (const [index, { stopReason, error: code }] of recorded.entries()) {
      // An agent that ignored its last cancel never ended that turn: the runtime does.
      if (code === undefined) assert.equal(turns[index].stopReason, stopReason ?? (turns[index].error ? undefined : 'cancelled'));
    }
    assert.equal(activeProcessCount(), 0);
  });
}
