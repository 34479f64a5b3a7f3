'use strict';

// An agent with terminal control in everything that it says: none of it reaches what a host may show.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AcpClient } = require('../..');
const { CONTROL } = require('../support/terminal.js');
const { script } = require('../support/fake-agent.js');

const HOSTILE = '\u001b[31mX\u009b31mY\u0007\r\u0000\u009d';
/** Members that are data for programs, as `docs/decisions/sanitising.md` has them. */
const DATA = new Set(['rawInput', 'rawOutput', '_meta', 'meta', 'args', 'env']);

/** @param {string} text */
const bad = (text) => text + HOSTILE;

/**
 * Where a value has control characters.
 *
 * @param {any} value
 * @param {string} at
 * @returns {string[]}
 */
function found(value, at) {
  if (typeof value === 'string') return CONTROL.test(value) ? [at] : [];
  if (value === null || typeof value !== 'object') return [];
  const own = value instanceof Error ? found([value.message, value.stack], `${at}.message`) : [];
  return Object.keys(value).filter((key) => !DATA.has(key)).reduce((all, key) => [...all, ...found(value[key], `${at}.${key}`)], own);
}

/** @param {Record<string, any>} update */
const update = (update) => ({ do: 'update', update });

const option = { id: bad('c'), name: bad('c'), type: 'select', currentValue: bad('v'), options: [{ value: bad('v'), name: bad('v') }] };
const chunk = (/** @type {string} */ kind) => update({ sessionUpdate: kind, messageId: bad('m'), content: { type: 'text', text: bad('t') } });

const initialize = {
  do: 'initialize',
  result: {
    agentInfo: { name: bad('n'), title: bad('t'), version: bad('v') },
    agentCapabilities: { sessionCapabilities: { list: {}, x: bad('c') }, auth: { status: {} }, providers: {}, y: bad('c') },
    authMethods: [{ id: bad('a'), name: bad('a'), description: bad('d') }],
  },
};

/** A list, the state of the login, the providers, a session, and what one can say in it. */
const steps = [
  initialize,
  { do: 'expect', method: 'session/list' },
  { do: 'respond', result: { sessions: [{ sessionId: bad('s'), cwd: bad('/'), title: bad('t'), updatedAt: bad('u') }] } },
  { do: 'expect', method: 'auth/status' },
  { do: 'respond', result: { state: bad('s'), message: bad('m'), accounts: [{ name: bad('a') }] } },
  { do: 'expect', method: 'providers/list' },
  { do: 'respond', result: { providers: [{ providerId: bad('p'), name: bad('n') }] } },
  {
    do: 'session_new',
    sessionId: 's1',
    result: { modes: { currentModeId: bad('m'), availableModes: [{ id: bad('m'), name: bad('m') }] }, configOptions: [option] },
  },
  { do: 'prompt_begin' },
  chunk('agent_message_chunk'), chunk('agent_thought_chunk'), chunk('user_message_chunk'),
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link', name: bad('n'), uri: bad('u') } }),
  update({
    sessionUpdate: 'tool_call', toolCallId: bad('i'), title: bad('t'), kind: bad('k'), status: bad('s'), rawInput: { a: bad('r') },
    locations: [{ path: bad('/p') }],
    content: [{ type: 'content', content: { type: 'text', text: bad('c') } }, { type: 'diff', path: bad('/d'), newText: bad('n') }],
  }),
  update({ sessionUpdate: 'plan', entries: [{ content: bad('c'), status: bad('s'), priority: bad('p') }] }),
  update({ sessionUpdate: 'available_commands_update', availableCommands: [{ name: bad('n'), description: bad('d') }] }),
  update({ sessionUpdate: 'current_mode_update', currentModeId: bad('m') }),
  update({ sessionUpdate: 'config_option_update', configOptions: [option] }),
  update({ sessionUpdate: 'session_info_update', title: bad('t'), updatedAt: bad('u') }),
  update({ sessionUpdate: 'notice', severity: bad('s'), title: bad('t'), message: bad('m') }),
  update({ sessionUpdate: 'subagent_update', sessionId: bad('child'), name: bad('n'), title: bad('t'), status: bad('s') }),
  {
    do: 'notify', method: 'session/update',
    params: {
      sessionId: bad('child'),
      update: { sessionUpdate: 'agent_message_chunk', messageId: bad('m'), content: { type: 'text', text: bad('t') } },
    },
  },
  update({ sessionUpdate: bad('unknown'), member: bad('m') }),
  { do: 'notify', method: bad('_n/'), params: {} },
  { do: 'notify', method: '_n/plain', params: {} },
  {
    do: 'request', id: 1, method: 'session/request_permission',
    params: {
      sessionId: 's1', toolCall: { toolCallId: bad('p'), title: bad('t'), kind: bad('k'), rawInput: { a: bad('r') } },
      options: [{ optionId: bad('o'), name: bad('n'), kind: 'allow_once' }, { optionId: bad('p'), name: bad('n'), kind: bad('k') }],
    },
  },
  { do: 'expect_response', to: 'session/request_permission' },
  { do: 'request', id: 2, method: bad('_x/'), params: {}, as: 'hostile' },
  { do: 'expect_response', to: 'hostile', error: { code: -32601 } },
  { do: 'raw', text: `noise ${HOSTILE}\n`, literal: true },
  { do: 'stderr', text: `words ${HOSTILE}\n` },
];

/** @param {any[]} more */
async function played(more) {
  /** @type {string[]} */
  const all = [];
  const look = (/** @type {any} */ value, /** @type {string} */ at) => all.push(...found(value, at));
  /** @type {string[]} */
  const told = [];
  const client = await AcpClient.launch({
    ...script([...steps, ...more]), cwd: process.cwd(), env: {}, unstable: true,
    onPermission: ({ signal: _, ...request }) => {
      look(request, 'permission');
      return 'deny';
    },
    onExtRequest: (method) => {
      told.push(method);
      return {};
    },
    onExtNotification: (method) => void told.push(method),
  });
  try {
    const { agentInfo, agentCapabilities, authMethods } = client;
    look({ agentInfo, agentCapabilities, authMethods }, 'client');
    for await (const session of client.listSessions()) look(session, 'listSessions');
    look(await client.authStatus(), 'authStatus');
    look(await client.listProviders(), 'listProviders');
    const session = await client.newSession();
    look([session.id, session.modes, session.configOptions], 'session');
    const types = new Set();
    try {
      const turn = session.prompt('x');
      for await (const event of turn) {
        types.add(event.type);
        look(event, event.type);
      }
      look(await turn, 'result');
    } catch (error) {
      assert.equal(/** @type {any} */ (error).name, 'AcpError', String(error));
      look(error, 'error');
      types.add('error');
    }
    look(session.state, 'state');
    look(client.diagnostics(), 'diagnostics');
    look(client.stderr(), 'stderr');
    assert.match(client.stderr(), /words XY/);
    assert.deepEqual(told, ['_n/plain']);
    return { all, types };
  } finally {
    await client.close();
  }
}

test('in events, questions, answers and listings', async () => {
  const { all, types } = await played([{ do: 'prompt_end', stopReason: bad('r') }]);
  assert.deepEqual(all, []);
  for (const type of ['agent_message_chunk', 'tool_call', 'plan', 'notice', 'child_session_event', 'unknown']) assert.ok(types.has(type), type);
});

test('in the error of an agent', async () => {
  const error = { code: -32603, message: bad('m'), data: { details: bad('d'), deep: [{ a: bad('b') }] } };
  const { all, types } = await played([{ do: 'respond', error }]);
  assert.deepEqual(all, []);
  assert.ok(types.has('error'));
});

test('in the error of an agent that ended', async () => {
  const { all, types } = await played([{ do: 'exit', code: 3 }]);
  assert.deepEqual(all, []);
  assert.ok(types.has('error'));
});

test('a session whose id would have to be changed is none', async () => {
  for (const id of ['\u001b[31ms', 's\n', 's\u0000', 's\u0085', '\u007f']) {
    const launch = script([{ do: 'initialize' }, { do: 'session_new', sessionId: id }]);
    const client = await AcpClient.launch({ ...launch, cwd: process.cwd(), env: {} });
    try {
      await assert.rejects(client.newSession(), { code: 'malformed_response' });
    } finally {
      await client.close();
    }
  }
});
