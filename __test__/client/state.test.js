'use strict';

// session.state: a frozen snapshot of everything that was said, made again only when something changed.

const assert = require('node:assert/strict');
const path = require('node:path');
const { test } = require('node:test');
const { AcpClient } = require('../..');
const { script } = require('../support/fake-agent.js');

const CAPABLE = { agentCapabilities: { loadSession: true } };

/**
 * @param {import('../support/fake-agent.js').Step[]} steps
 * @param {Partial<import('../../types/client').LaunchOptions>} [options]
 */
function launch(steps, options = {}) {
  return AcpClient.launch({ ...script([{ do: 'initialize', result: CAPABLE }, ...steps]), cwd: process.cwd(), env: {}, ...options });
}

/**
 * @param {string} sessionUpdate
 * @param {object} more
 * @param {string} [sessionId]
 */
const update = (sessionUpdate, more, sessionId) => ({ do: 'update', update: { sessionUpdate, ...more }, sessionId });

/** @param {string} text @param {string} [sessionId] */
const text = (text, sessionId) => ({ do: 'text', text, ...(sessionId === undefined ? {} : { sessionId }) });

const OPEN = [{ do: 'session_new', sessionId: 's1' }, { do: 'prompt_begin' }];
const END = { do: 'prompt_end', stopReason: 'end_turn' };

/** @param {any} value */
function assertFrozen(value) {
  if (value === null || typeof value !== 'object') return;
  assert.ok(Object.isFrozen(value));
  for (const item of Object.values(value)) assertFrozen(item);
}

test('everything a turn said is in the state after it', async () => {
  const client = await launch([
    ...OPEN,
    text('one '), text('two'),
    update('tool_call', { toolCallId: 't', title: 'Look', kind: 'read', rawInput: { path: '/a' } }),
    update('tool_call_update', { toolCallId: 't', status: 'completed', title: null, rawOutput: [1] }),
    update('plan', { entries: [{ content: 'p', priority: 'low', status: 'pending' }] }),
    update('usage_update', { used: 5, size: 50, cost: { amount: 0.25, currency: 'USD' } }),
    { do: 'prompt_end', result: { usage: { inputTokens: 0, outputTokens: 3, totalTokens: 3, thoughtTokens: null } } },
  ]);
  try {
    const session = await client.newSession();
    const result = await session.prompt('go');
    const usage = {
      inputTokens: 0, outputTokens: 3, totalTokens: 3, source: 'prompt_result', scope: 'unknown',
      context: { used: 5, size: 50 }, cost: { amount: 0.25, currency: 'USD' },
    };
    assert.deepEqual(result.usage, usage);
    const { version, dropped, ...state } = session.state ?? assert.fail('there is a state');
    assert.ok(version > 0);
    assert.deepEqual(new Set(Object.values(dropped)), new Set([0]));
    assert.deepEqual(state, {
      messages: [{ order: 0, role: 'agent', content: [{ type: 'text', text: 'one two' }], truncated: false }],
      toolCalls: [{
        order: 1, toolCallId: 't', status: 'completed', title: 'Look', kind: 'read', rawInput: { path: '/a' }, rawOutput: [1],
        incomplete: false,
      }],
      plans: [{ type: 'items', entries: [{ content: 'p', priority: 'low', status: 'pending' }] }],
      compactions: [],
      cursors: [],
      context: { used: 5, size: 50 },
      cost: { amount: 0.25, currency: 'USD' },
      usage,
      subagents: [],
    });
  } finally {
    await client.close();
  }
});

test('a snapshot is frozen, the same until something changes, and never changes itself', async () => {
  const client = await launch([...OPEN, text('first'), END, { do: 'prompt_begin' }, text('second'), END]);
  try {
    const session = await client.newSession();
    const empty = session.state;
    assert.equal(session.state, empty);
    await session.prompt('go');
    const first = session.state;
    assert.notEqual(first, empty);
    assert.equal(session.state, first);
    assertFrozen(first);
    await session.prompt('go');
    assert.equal(first?.messages.length, 1);
    assert.deepEqual(session.state?.messages.map(({ content }) => content), [
      [{ type: 'text', text: 'first' }], [{ type: 'text', text: 'second' }],
    ]);
  } finally {
    await client.close();
  }
});

test('it is there in the middle of a turn and after the end of everything', async () => {
  const client = await launch([
    ...OPEN, update('tool_call', { toolCallId: 't', title: 'Run', status: 'in_progress' }), text('going'),
    { do: 'expect', method: 'session/cancel' }, { do: 'prompt_end', stopReason: 'cancelled' },
  ]);
  const session = await client.newSession();
  const turn = session.prompt('go');
  for await (const event of turn) {
    if (event.type !== 'agent_message_chunk') continue;
    assert.equal(session.state?.toolCalls[0]?.status, 'in_progress');
    break;
  }
  await session.cancel();
  await turn;
  const [call] = session.state?.toolCalls ?? [];
  assert.deepEqual([call?.status, call?.cancelledLocally], ['cancelled', true]);
  await session.close();
  await client.close();
  assert.equal(session.state?.messages[0]?.role, 'agent');
});

test('a loaded session has its history', async () => {
  const client = await launch([
    { do: 'expect', method: 'session/load' },
    update('user_message_chunk', { content: { type: 'text', text: 'q' } }, 'old'),
    update('agent_message_chunk', { content: { type: 'text', text: 'a' } }, 'old'),
    update('available_commands_update', { availableCommands: [{ name: 'c', description: 'C' }] }, 'old'),
    { do: 'respond', result: { modes: { currentModeId: 'm', availableModes: [{ id: 'm', name: 'M' }] } } },
    { do: 'prompt_begin', sessionId: 'old' }, text('new', 'old'), END,
  ]);
  try {
    const session = await client.loadSession('old');
    const said = session.state?.messages.map(({ role, replay }) => [role, replay]);
    assert.deepEqual(said, [['user', true], ['agent', true]]);
    assert.deepEqual([session.state?.currentModeId, session.state?.availableCommands?.[0]?.name], ['m', 'c']);
    const result = await session.prompt('go');
    assert.deepEqual([result.text, result.usage], ['new', undefined]);
    assert.equal(session.state?.messages.length, 3);
  } finally {
    await client.close();
  }
});

test('it can be turned off', async () => {
  const client = await launch([...OPEN, text('x'), END], { state: false });
  try {
    const session = await client.newSession();
    assert.equal((await session.prompt('go')).text, 'x');
    assert.equal(session.state, undefined);
  } finally {
    await client.close();
  }
});

test('a child session speaks through its parent: events inside, a state below, questions with its id', async () => {
  /** @type {any[]} */
  const asked = [];
  const client = await launch([
    ...OPEN,
    text('mine '),
    update('subagent_update', { sessionId: 'child', title: 'Helper', state: { state: 'running' } }),
    text('theirs', 'child'),
    update('tool_call', { toolCallId: 't', title: 'Write' }, 'child'),
    { do: 'permission', sessionId: 'child', toolCall: { toolCallId: 't' }, options: [{ optionId: 'y', name: 'Y', kind: 'allow_once' }] },
    { do: 'expect_response', to: 'permission', result: { outcome: { outcome: 'selected', optionId: 'y' } } },
    text('too', 's1'),
    END,
  ], {
    onPermission(request) {
      asked.push(request);
      return 'allow';
    },
  });
  try {
    const session = await client.newSession();
    const turn = session.prompt('go');
    /** @type {any[]} */
    const inside = [];
    for await (const event of turn) {
      assert.equal(event.sessionId, 's1');
      if (event.type !== 'child_session_event') continue;
      assert.equal(event.childSessionId, 'child');
      inside.push(event.event);
    }
    assert.equal((await turn).text, 'mine too');
    assert.deepEqual(inside.map(({ type, sessionId }) => [type, sessionId]), [['agent_message_chunk', 'child'], ['tool_call', 'child']]);
    assert.deepEqual([asked.length, asked[0].sessionId, asked[0].childSessionId, asked[0].toolCall.title], [1, 's1', 'child', 'Write']);
    const [child] = session.state?.subagents ?? [];
    assert.deepEqual([child?.title, child?.session.messages[0]?.content], ['Helper', [{ type: 'text', text: 'theirs' }]]);
    assert.equal(session.state?.toolCalls.length, 0);
  } finally {
    await client.close();
  }
});

test('files of a child session are those of its owner, and of nobody else', async () => {
  const read = (/** @type {string} */ as, /** @type {string} */ sessionId, /** @type {string} */ file) => ({
    do: 'request', as, method: 'fs/read_text_file', params: { sessionId, path: file },
  });
  const client = await launch([
    ...OPEN,
    update('subagent_update', { sessionId: 'child' }),
    read('inside', 'child', path.join(__dirname, 'state.test.js')),
    { do: 'expect_response', to: 'inside', result: { content: { $contains: 'files of a child session' } } },
    read('outside', 'child', path.join(__dirname, '..', '..', 'package.json')),
    { do: 'expect_response', to: 'outside', error: { code: { $type: 'number' } } },
    read('stranger', 'stranger', path.join(__dirname, 'state.test.js')),
    { do: 'expect_response', to: 'stranger', error: { code: -32002 } },
    END,
  ], { fs: { read: true } });
  try {
    const session = await client.newSession({ cwd: __dirname });
    assert.equal((await session.prompt('go')).stopReason, 'end_turn');
  } finally {
    await client.close();
  }
});

test('a question of a session that nobody owns is denied, and nobody is asked', async () => {
  const options = [{ optionId: 'y', name: 'Y', kind: 'allow_once' }, { optionId: 'n', name: 'N', kind: 'reject_once' }];
  const client = await launch([
    ...OPEN,
    { do: 'permission', sessionId: 'stranger', toolCall: { toolCallId: 't' }, options },
    { do: 'expect_response', to: 'permission', result: { outcome: { outcome: 'selected', optionId: 'n' } } },
    END,
  ], { onPermission: () => assert.fail('nobody is asked') });
  try {
    const session = await client.newSession();
    await session.prompt('go');
  } finally {
    await client.close();
  }
});

test('history that is deep and odd is a snapshot like any other', async () => {
  const depth = 20_000;
  const raw = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call",`
    + `"toolCallId":"t","title":"\\u001b[31mred","rawInput":${'['.repeat(depth)}${']'.repeat(depth)},"rawOutput":{"__proto__":{"x":1}}}}}\n`;
  const client = await launch([...OPEN, { do: 'raw', text: raw, literal: true }, END]);
  try {
    const session = await client.newSession();
    await session.prompt('go');
    const [call] = session.state?.toolCalls ?? [];
    assert.equal(call?.title, 'red');
    assert.equal(Object.isFrozen(call?.rawInput), true);
    assert.equal(/** @type {any} */ ({}).x, undefined);
  } finally {
    await client.close();
  }
});
