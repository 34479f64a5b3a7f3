'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const {
  MAX_PLAN_ENTRIES, PER_CHUNK_CAP_CHARS, PER_TURN_OUTPUT_CAP_CHARS, TOOL_CALL_MAP_CAP, createEventBridge,
} = require('../..');

function recording() {
  const events = [];
  const bridge = createEventBridge({
    onText: (text) => events.push(['text', text]),
    onThinking: (text) => events.push(['thinking', text]),
    onToolStart: (name, args) => events.push(['start', name, args]),
    onToolEnd: (name, isError, result) => events.push(['end', name, isError, result]),
  });
  const chunk = (text, tag = 'agent_message_chunk') =>
    bridge.handleSessionUpdate({ sessionUpdate: tag, content: { type: 'text', text } });
  const tool = (toolCallId, rest = {}) => bridge.handleSessionUpdate({ sessionUpdate: 'tool_call', toolCallId, ...rest });
  const update = (toolCallId, rest = {}) =>
    bridge.handleSessionUpdate({ sessionUpdate: 'tool_call_update', toolCallId, ...rest });
  return { bridge, events, chunk, tool, update };
}

describe('constants', () => {
  it('are those of the contract', () => {
    assert.deepEqual([PER_TURN_OUTPUT_CAP_CHARS, PER_CHUNK_CAP_CHARS, TOOL_CALL_MAP_CAP, MAX_PLAN_ENTRIES],
      [5_000_000, 64_000, 1000, 100]);
  });
});

describe('text', () => {
  it('reaches its callback, thoughts theirs, other content none', () => {
    const { bridge, events, chunk } = recording();
    chunk('hi');
    chunk('hm', 'agent_thought_chunk');
    bridge.handleSessionUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'x', mimeType: 'y' } });
    assert.deepEqual(events, [['text', 'hi'], ['thinking', 'hm']]);
  });

  it('gets back the space that agents lose between sentences, not inside numbers', () => {
    const cases = [['Done.', 'Next', ' Next'], ['3.', '5', '5'], ['v.', '2', ' 2'], ['a', 'B', 'B'], ['Done. ', 'Next', 'Next']];
    for (const [first, second, shown] of cases) {
      const { events, chunk } = recording();
      chunk(first);
      chunk(second);
      assert.equal(events[1][1], shown, `${first} + ${second}`);
    }
  });

  it('keeps the two streams apart', () => {
    const { events, chunk } = recording();
    chunk('Done.');
    chunk('Next', 'agent_thought_chunk');
    assert.deepEqual(events[1], ['thinking', 'Next']);
  });

  it('is bounded per chunk and per turn, and says so once', () => {
    const { bridge, events, chunk } = recording();
    const long = 'x'.repeat(PER_CHUNK_CAP_CHARS + 10);
    const chunks = Math.ceil(PER_TURN_OUTPUT_CAP_CHARS / PER_CHUNK_CAP_CHARS);
    for (let i = 0; i < chunks + 3; i++) chunk(long);
    assert.equal(events[0][1].length, PER_CHUNK_CAP_CHARS);
    const notices = events.filter(([kind]) => kind === 'thinking');
    assert.deepEqual(notices,
      [['thinking', '[output truncated: per-turn limit reached — further agent output suppressed]']]);
    assert.equal(events.length, chunks + 1);
    bridge.reset();
    chunk('again');
    assert.deepEqual(events.at(-1), ['text', 'again']);
  });
});

describe('tools', () => {
  it('start with plain arguments, and end once', () => {
    const { events, tool, update } = recording();
    tool('t', { title: 'Run', kind: 'execute', rawInput: { a: 1 } });
    update('t', { status: 'in_progress' });
    update('t', { status: 'completed', rawOutput: { ok: true } });
    update('t', { status: 'failed' });
    assert.deepEqual(events, [['start', 'Run', { a: 1 }], ['end', 'Run', false, { ok: true }]]);
  });

  it('have empty arguments where the agent sent no object', () => {
    const { events, tool } = recording();
    tool('t', { kind: 'read', rawInput: [1] });
    assert.deepEqual(events, [['start', 'Read', {}]]);
  });

  it('need an id', () => {
    const { events, tool } = recording();
    tool('');
    tool(undefined);
    tool(5);
    assert.deepEqual(events, []);
  });

  it('start once although announced twice, and end when announced as ended', () => {
    const { events, tool } = recording();
    tool('t', { title: 'One' });
    tool('t', { title: 'One' });
    tool('u', { title: 'Two', status: 'failed', rawOutput: 'no' });
    assert.deepEqual(events, [['start', 'One', {}], ['start', 'Two', {}], ['end', 'Two', true, 'no']]);
  });

  it('end although nobody announced them', () => {
    const { events, update } = recording();
    update('x', { status: 'failed' });
    update('y', { status: 'completed', kind: 'read' });
    assert.deepEqual(events.map((event) => event.slice(0, 3)), [['end', 'tool', true], ['end', 'Read', false]]);
  });

  it('show their content where there is no raw output', () => {
    const { events, tool, update } = recording();
    const content = [{ type: 'content', content: { type: 'text', text: 'out' } }];
    tool('t', { title: 'Run' });
    update('t', { status: 'completed', content });
    assert.deepEqual(events[1], ['end', 'Run', false, content]);
  });

  it('are forgotten in the order of their last use', () => {
    const { events, tool, update } = recording();
    for (let i = 0; i < TOOL_CALL_MAP_CAP; i++) tool(`t${i}`, { title: `T${i}` });
    update('t0', { status: 'in_progress' });
    tool('one-more', { title: 'More' });
    events.length = 0;
    update('t0', { status: 'completed' });
    update('t1', { status: 'completed' });
    assert.deepEqual(events.map(([, name]) => name), ['T0', 'tool']);
  });
});

describe('plans', () => {
  it('are one line per entry, replaced as a whole', () => {
    const { bridge, events } = recording();
    bridge.handleSessionUpdate({ sessionUpdate: 'plan', entries: [{ content: 'a', status: 'completed' }, { content: 'b' }] });
    assert.deepEqual(events, [['thinking', 'Plan:\n- [completed] a\n- [pending] b']]);
  });

  it('show a hundred entries', () => {
    const { bridge, events } = recording();
    bridge.handleSessionUpdate({ sessionUpdate: 'plan', entries: Array.from({ length: 103 }, () => ({ content: 'x' })) });
    assert.ok(events[0][1].endsWith('\n- … 3 more entries truncated'));
  });
});

describe('a plan that is far too long', () => {
  it('is cut like any other, its entries counted', () => {
    const { bridge, events } = recording();
    const entries = Array.from({ length: 120 }, () => ({ content: 'x'.repeat(PER_CHUNK_CAP_CHARS), status: 'completed' }));
    bridge.handleSessionUpdate({ sessionUpdate: 'plan', entries });
    assert.equal(events.length, 1);
    assert.ok(events[0][1].startsWith('Plan:\n- [completed] xxx'));
    assert.ok(events[0][1].length <= PER_CHUNK_CAP_CHARS);
  });
});

describe('anything else', () => {
  it('is ignored and never throws', () => {
    const { bridge, events } = recording();
    const circular = { sessionUpdate: 'plan' };
    circular.self = circular;
    const tags = [
      'user_message_chunk', 'plan_update', 'plan_removed', 'available_commands_update', 'current_mode_update',
      'config_option_update', 'session_info_update', 'usage_update', 'made_up',
    ];
    for (const sessionUpdate of tags) bridge.handleSessionUpdate({ sessionUpdate, content: { type: 'text', text: 'x' } });
    for (const update of [undefined, null, 7, 'x', [], circular, { sessionUpdate: 'tool_call', rawInput: 10n }]) {
      bridge.handleSessionUpdate(update);
    }
    assert.deepEqual(events, []);
  });

  it('goes on after a callback that throws', () => {
    let seen = 0;
    const bridge = createEventBridge({
      onText: () => {
        seen++;
        throw new Error('host');
      },
    });
    for (let i = 0; i < 2; i++) bridge.handleSessionUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } });
    assert.equal(seen, 2);
  });
});
