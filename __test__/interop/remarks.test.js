'use strict';

// What the interop kit remarks on the wire.

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');

const { REMARKS, Watcher } = require('../../interop/lib/remarks.js');

const OPEN = [
  ['>', { id: 1, method: 'session/new', params: {} }],
  ['<', { id: 1, result: { sessionId: 's' } }],
];
const PROMPT = ['>', { id: 2, method: 'session/prompt', params: { sessionId: 's' } }];
const RESUME = ['>', { id: 5, method: 'session/resume', params: { sessionId: 's' } }];
const CANCEL = ['>', { method: 'session/cancel', params: { sessionId: 's' } }];
/** @param {string} stopReason */
const end = (stopReason) => ['<', { id: 2, result: { stopReason } }];
/** @param {object} update */
const update = (update) => ['<', { method: 'session/update', params: { sessionId: 's', update } }];
const chunk = update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a' } });
const call = update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'C' });
const done = update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed' });
const permission = ['<', { id: 9, method: 'session/request_permission', params: { toolCall: { toolCallId: 'c' } } }];

/** @param {any[]} lines */
function remarks(lines) {
  const watcher = new Watcher();
  for (const [sign, message] of lines) {
    const frame = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
    watcher.see({ direction: sign === '>' ? 'to_agent' : 'from_agent', frame, truncated: false });
  }
  return [...watcher.found].sort();
}

describe('on the wire', () => {
  test('nothing is remarked about an agent that behaves', () => {
    const turn = [PROMPT, chunk, call, permission, done, end('end_turn')];
    assert.deepEqual(remarks([...OPEN, ...turn, PROMPT, CANCEL, chunk, end('cancelled')]), []);
  });

  for (const method of ['session/load', 'session/fork']) {
    test(`history at ${method} is neither early nor late`, () => {
      const request = ['>', { id: 5, method, params: { sessionId: 's' } }];
      const replay = [request, chunk, ['<', { id: 5, result: { sessionId: 's' } }]];
      const turn = [PROMPT, chunk, end('end_turn')];
      assert.deepEqual(remarks([...replay, ...turn]), []);
      assert.deepEqual(remarks([...OPEN, ...turn, ...replay, ...turn]), []);
    });
  }

  test('a usage update may come at any time', () => {
    const usage = update({ sessionUpdate: 'usage_update', used: 1, size: 2 });
    assert.deepEqual(remarks([...OPEN, usage, PROMPT, end('end_turn'), usage]), []);
  });

  for (const [remark, lines] of Object.entries({
    'early-update': [OPEN[0], chunk, OPEN[1]],
    'resume-replays': [RESUME, chunk, ['<', { id: 5, result: {} }]],
    'late-update': [...OPEN, PROMPT, end('end_turn'), chunk],
    'unknown-update': [...OPEN, PROMPT, done, end('end_turn')],
    'unknown-permission': [...OPEN, PROMPT, permission, end('end_turn')],
    'announced-twice': [...OPEN, PROMPT, call, call, done, end('end_turn')],
    unfinished: [...OPEN, PROMPT, call, end('refusal')],
    'cancel-error': [...OPEN, PROMPT, CANCEL, ['<', { id: 2, error: { code: -32603, message: 'no' } }]],
    'plain-text': [['<', 'Welcome!'], ...OPEN],
  })) {
    test(`${remark} is remarked, and nothing else`, () => {
      assert.ok(Object.hasOwn(REMARKS, remark));
      assert.deepEqual(remarks(lines), [remark]);
    });
  }

  test('JSON that a mask has broken is no fault of the agent', () => {
    assert.deepEqual(remarks([['<', '{"id":0,"result":{"api-key":[REDACTED]"a":1}}'], ...OPEN]), []);
  });

  test('after a line that was cut nothing is judged', () => {
    const watcher = new Watcher();
    watcher.see({ direction: 'to_agent', frame: '{"jsonrpc":', truncated: true });
    watcher.see({ direction: 'from_agent', frame: 'Welcome!', truncated: false });
    assert.equal(watcher.found.size, 0);
  });
});

test('the way an agent ends is remarked', () => {
  for (const [exit, remark] of /** @type {[object, string[]][]} */ ([
    [{ exitCode: 0, signal: null }, []],
    [{ exitCode: null, signal: 'SIGTERM' }, ['needs-sigterm']],
    [{ exitCode: 143, signal: null }, ['needs-sigterm']],
    [{ exitCode: null, signal: 'SIGKILL' }, ['needs-sigkill']],
  ])) {
    const watcher = new Watcher();
    watcher.closed(exit);
    assert.deepEqual([...watcher.found], remark);
  }
});
