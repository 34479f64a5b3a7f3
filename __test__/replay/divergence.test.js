'use strict';

// The first thing that is not as recorded is found and named.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { activeProcessCount } = require('../..');
const { ends, played, prompted, says, transcript, update } = require('./support');

const jsonrpc = '2.0';
const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
const asks = { jsonrpc, id: 9, method: 'session/request_permission', params: { sessionId: 's1', toolCall: { toolCallId: 't' }, options } };

/** @type {Array<[string, any[], RegExp, number]>} */
const cases = [
  ['a message that is not sent', [...prompted(), ['out', { jsonrpc, method: 'session/cancel', params: { sessionId: 's2' } }], ends()],
    /did not send the notification session\/cancel/, 7],
  ['an answer that is another one', [...prompted(), ['in', asks], ['out', { jsonrpc, id: 9, error: { code: -32603, message: 'x' } }], ends()],
    /session\/request_permission was answered with .*-32603.* and now with .*cancelled/, 8],
  ['an option that was not offered', [...prompted(), ['in', asks],
    ['out', { jsonrpc, id: 9, result: { outcome: { outcome: 'selected', optionId: 'no' } } }], ends()], /cancelled/, 8],
  ['a message that is sent and was not', [...prompted(), ['in', { jsonrpc, id: 5, method: 'foo/bar' }],
    ['in', { jsonrpc, id: 6, method: 'foo/baz' }], ['out', { jsonrpc, id: 6, error: { code: -32601, message: 'no' } }], ends()],
    /sent the answer to request 5, which is not in the transcript/, 10],
  ['a session that is not there', [...prompted(),
    ['out', { jsonrpc, id: 4, method: 'session/prompt', params: { sessionId: 'nobody', prompt: [] } }], ends()], /"nobody" is not open/, 7],
  ['a call that this client does not make', [...prompted(), ['out', { jsonrpc, id: 4, method: 'made/up', params: {} }], ends()],
    /did not send the request made\/up/, 7],
];

for (const [name, messages, problem, line] of cases) {
  test(name, async (t) => {
    const outcome = await played(t, transcript(/** @type {any} */ (messages)), { patienceMs: 500 });
    assert.equal(outcome.ok, false);
    assert.match(outcome.divergence?.problem ?? '', problem);
    assert.equal(outcome.divergence?.line, line);
    assert.equal(activeProcessCount(), 0);
  });
}

test('a handshake that failed fails again, and one that did not must not', async (t) => {
  const [initialize] = prompted();
  const refused = await played(t, transcript([initialize, ['in', { jsonrpc, id: 1, error: { code: -32603, message: 'no' } }]]));
  assert.deepEqual([refused.ok, refused.error.code], [true, 'agent_error']);
  const other = await played(t, transcript([initialize, ['in', { jsonrpc, id: 1, result: { protocolVersion: 7 } }]]));
  assert.equal(other.ok, true);
  const silent = await played(t, transcript([initialize]), { patienceMs: 200 });
  assert.equal(silent.error.code, 'handshake_timeout');
  assert.equal(activeProcessCount(), 0);
});

test('a turn without an end in the transcript has none in the replay', async (t) => {
  const outcome = await played(t, transcript([...prompted(), says('half')]));
  assert.deepEqual([outcome.ok, outcome.turns[0].events], [true, { agent_message_chunk: 1 }]);
});

test('what a turn gives is compared', () => {
  const same = (/** @type {string} */ text) => text;
  const { expectedTurns, newTurn, turnDifference } = require('../../lib/replay/expected');
  const { parseTranscript } = require('../../lib/replay');
  const [recorded] = expectedTurns(parseTranscript(transcript([...prompted(), says('a'), says('b'), ends()])).entries);
  assert.deepEqual([recorded.text, recorded.events, recorded.line], ['ab', { agent_message_chunk: 2 }, 9]);
  assert.equal(turnDifference(recorded, { ...recorded }, same), undefined);
  assert.match(turnDifference(recorded, { ...recorded, text: 'a' }, same) ?? '', /another text: "ab" was recorded, "a" came of it/);
  assert.match(turnDifference(recorded, { ...recorded, stopReason: 'refusal' }, same) ?? '', /another stopReason/);
  assert.match(turnDifference(recorded, { ...newTurn('s1', 0), text: 'ab', stopReason: 'end_turn' }, same) ?? '', /another events/);
  const cancelled = { ...recorded, stopReason: undefined, error: -32800 };
  assert.equal(turnDifference(cancelled, { ...recorded, stopReason: 'cancelled' }, same), undefined);
});

test('what the runtime cleans is no difference', async (t) => {
  const coloured = '\u001b[31mred\u001b[0m';
  const call = { sessionUpdate: 'tool_call', toolCallId: 't', title: coloured, kind: 'read', status: 'completed' };
  const outcome = await played(t, transcript([...prompted(), says(coloured), update(call), ends()]));
  assert.deepEqual([outcome.ok, outcome.divergence, outcome.turns[0].text], [true, undefined, 'red']);
});
