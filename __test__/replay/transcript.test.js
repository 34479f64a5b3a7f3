'use strict';

// The format: what is written, and what is refused.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { parseTranscript, TranscriptError, transcriptWriter } = require('../../lib/replay');
const { played, prompted, transcript } = require('./support');

const header = '{"transcript":1,"agent":"a","version":"2"}\n';

/** @param {Array<[string, string, boolean?]>} frames */
function written(frames) {
  let text = '';
  const writer = transcriptWriter((line) => {
    text += line;
  }, { agent: 'fallback' });
  frames.forEach(([direction, frame, truncated = false], index) =>
    writer.frame({ time: 1000 + index, direction: /** @type {any} */ (direction), frame, truncated }));
  writer.end();
  return text;
}

test('the header has the name that the agent gives itself', () => {
  const text = written([
    ['to_agent', '{"id":1,"method":"initialize"}'],
    ['from_agent', 'noise'],
    ['from_agent', '{"id":1,"result":{"agentInfo":{"name":"a","version":"2"}}}'],
    ['from_agent', '{"id":12345678901234567890, "method":"x"}'],
    ['to_agent', '{"id":2', true],
  ]);
  assert.equal(text.split('\n')[0], header.trim());
  // A number that JavaScript cannot hold stays as it was.
  assert.match(text, /"frame":\{"id":12345678901234567890, "method":"x"\}/);
  const { entries } = parseTranscript(text);
  assert.deepEqual(entries.map(({ t, dir, text: other, truncated }) => [t, dir, other, truncated]), [
    [0, 'out', undefined, undefined], [1, 'in', 'noise', false], [2, 'in', undefined, undefined], [3, 'in', undefined, undefined],
    [4, 'out', '{"id":2', true],
  ]);
});

test('an agent that never answers has the name of its program', () => {
  assert.equal(written([['to_agent', '{"id":1,"method":"initialize"}']]).split('\n')[0], '{"transcript":1,"agent":"fallback","version":""}');
  assert.equal(written([]), '');
});

test('what is no transcript is refused with the line that is wrong', () => {
  for (const [text, problem] of /** @type {Array<[string, RegExp]>} */ ([
    ['', /empty/],
    ['\n\n', /empty/],
    ['{"t":1}\n', /first line is not the header/],
    ['{"transcript":2}\n', /version 2/],
    ['nonsense', /line 1 is not JSON/],
    ['[]', /line 1 is not an object/],
    [`${header}\n[1]`, /line 3 is not an object/],
    [`${header}{"t":0,"frame":{}}`, /line 2 has no direction/],
    [`${header}{"t":0,"dir":"in"}`, /line 2 has neither/],
    [`${header}{"t":0,"dir":"in","frame":[]}`, /line 2 has neither/],
  ])) {
    assert.throws(() => parseTranscript(text), (error) => error instanceof TranscriptError && problem.test(error.message), text);
  }
  assert.deepEqual(parseTranscript(`${header}\r\n`).header, { transcript: 1, agent: 'a', version: '2' });
});

test('a transcript that was cut, or that has no handshake, is not played', async (t) => {
  const cut = `${transcript(prompted())}{"t":9,"dir":"in","text":"{","truncated":true}\n`;
  await assert.rejects(played(t, cut), /line 7 was cut/);
  await assert.rejects(played(t, header), /never initializes/);
});
