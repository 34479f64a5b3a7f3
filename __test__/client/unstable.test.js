'use strict';

// The part of the protocol that may still change: closed unless the host asked for it and the agent advertises it.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, initialize, scripted } = require('../support/scripted.js');

const OPTION = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'A' }] };

/**
 * Each call, the capability it needs, what goes over the wire, and what it resolves with.
 *
 * @type {Array<{ call: (client: import('../../types/client').AcpClient) => Promise<any>, needs: string[], method: string,
 *   params: any, result: any, value: any }>}
 */
const CALLS = [
  {
    call: (client) => client.listProviders(), needs: ['providers'], method: 'providers/list', params: {},
    result: { providers: [{ providerId: 'p', required: false, supported: ['openai'] }] },
    value: [{ providerId: 'p', required: false, supported: ['openai'] }],
  },
  {
    call: (client) => client.setProvider({ providerId: 'p', apiType: 'openai', baseUrl: 'https://x', headers: { a: 'b' } }),
    needs: ['providers'], method: 'providers/set',
    params: { $exact: { providerId: 'p', apiType: 'openai', baseUrl: 'https://x', headers: { a: 'b' } } }, result: null, value: undefined,
  },
  {
    call: (client) => client.disableProvider('p'), needs: ['providers'], method: 'providers/disable',
    params: { $exact: { providerId: 'p' } }, result: {}, value: undefined,
  },
  {
    call: (client) => client.sessionStatus('s'), needs: ['sessionCapabilities', 'status'], method: 'session/status',
    params: { $exact: { sessionId: 's' } }, result: { status: 'saved' }, value: 'saved',
  },
  {
    call: (client) => client.sessionOptions({ additionalDirectories: ['/x'] }), needs: ['sessionCapabilities', 'options'],
    method: 'session/options', params: { cwd: process.cwd(), additionalDirectories: ['/x'], sessionId: { $absent: true } },
    result: { configOptions: [OPTION], modes: null }, value: { configOptions: [OPTION], modes: undefined },
  },
  {
    call: (client) => client.archiveSession('s'), needs: ['sessionCapabilities', 'archive'], method: 'session/archive',
    params: { $exact: { sessionId: 's' } }, result: {}, value: undefined,
  },
  {
    call: (client) => client.unarchiveSession('s'), needs: ['sessionCapabilities', 'archive'], method: 'session/unarchive',
    params: { $exact: { sessionId: 's' } }, result: null, value: undefined,
  },
  {
    call: (client) => client.setSessionTitle('s', ' T '), needs: ['sessionCapabilities', 'title'], method: 'session/set_title',
    params: { $exact: { sessionId: 's', title: ' T ' } }, result: { title: 'T' }, value: 'T',
  },
  {
    call: (client) => client.authStatus(), needs: ['auth', 'status'], method: 'auth/status', params: {},
    result: { state: 'authenticated', accounts: [{ label: 'me' }] }, value: { state: 'authenticated', accounts: [{ label: 'me' }] },
  },
  {
    call: (client) => client.listSessions({ archived: 'only' }).next(), needs: ['sessionCapabilities', 'archive'],
    method: 'session/list', params: { $exact: { archived: 'only' } }, result: { sessions: [] }, value: { done: true, value: undefined },
  },
  {
    call: (client) => client.newSession({ configOptions: { model: 'a', fast: true } }), needs: ['sessionCapabilities', 'options'],
    method: 'session/new',
    params: { configOptions: { $exact: [{ configId: 'model', value: 'a' }, { configId: 'fast', type: 'boolean', value: true }] } },
    result: { sessionId: 's' }, value: undefined,
  },
];

/** Everything that any of the calls needs. */
const ALL = CALLS.reduce(
  (/** @type {any} */ all, { needs: [first, second] }) => ({ ...all, [first]: second ? { ...all[first], [second]: {} } : {} }),
  { sessionCapabilities: { list: {} } },
);
const DONE = answered('_test/done');

test('without the switch nothing of it reaches the wire, whatever the agent advertises', async () => {
  const client = await scripted([initialize(ALL), ...DONE]);
  for (const { call, method } of CALLS) {
    await assert.rejects(call(client), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.extra.option], ['unsupported_capability', 'unstable'], method);
      return true;
    });
  }
  await client.request('_test/done');
  await end(client);
});

test('with the switch nothing reaches an agent that does not advertise it', async () => {
  const client = await scripted([initialize({ sessionCapabilities: { list: {} } }), ...DONE], { unstable: true });
  for (const { call, needs } of CALLS) {
    await assert.rejects(call(client), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.extra.capability], ['unsupported_capability', needs.join('.')]);
      return true;
    });
  }
  await client.request('_test/done');
  await end(client);
});

for (const { call, method, params, result, value } of CALLS) {
  test(`${method} says what it should and returns what was answered`, async () => {
    const client = await scripted([initialize(ALL), ...answered(method, params, result)], { unstable: true });
    const returned = await call(client);
    if (method !== 'session/new') assert.deepEqual(returned, value);
    await end(client);
  });
}

test('cursors and suggestions are advertised with the switch, and nowhere else', async () => {
  for (const [options, params] of /** @type {Array<[object, any]>} */ ([
    [{ unstable: true }, { session: { cursors: { $exact: {} }, promptSuggestions: { $exact: {} } } }],
    [{}, { session: { cursors: { $absent: true }, promptSuggestions: { $absent: true } } }],
    [{ unstable: true, richUpdates: false }, { session: { $absent: true } }],
  ])) {
    await end(await scripted([{ do: 'initialize', params: { clientCapabilities: params } }], options));
  }
});

test('a session is forked at a cursor that the agent offers for that, and at no other', async () => {
  const anchor = { type: 'agent_message', messageId: 'm1', position: 'after' };
  const cursor = (/** @type {string} */ cursorId, /** @type {object} */ more) => (
    { do: 'update', update: { sessionUpdate: 'cursor_update', cursorId, ...more } });
  const steps = [
    initialize({ sessionCapabilities: { fork: {} } }), { do: 'session_new' }, { do: 'prompt_begin' },
    cursor('c1', { anchor }), cursor('c2', { anchor, capabilities: { fork: {} } }), { do: 'prompt_end' }, ...DONE,
    ...answered('session/fork', { sessionId: 's1', cursorId: 'c2' }, { sessionId: 's2' }),
  ];
  const client = await scripted(steps, { unstable: true });
  const session = await client.newSession();
  const turn = session.prompt('x');
  const told = [];
  for await (const event of turn) told.push(event.type === 'cursor_update' && event.cursorId);
  assert.deepEqual(told, ['c1', 'c2']);
  assert.deepEqual(session.state?.cursors, [{ cursorId: 'c1', anchor }, { cursorId: 'c2', anchor, capabilities: { fork: {} } }]);
  await assert.rejects(client.forkSession('s1', { cursorId: 'c1' }), { code: 'unsupported_capability' });
  await assert.rejects(client.forkSession('s1', { cursorId: 'c9' }), { code: 'unsupported_capability' });
  await assert.rejects(client.forkSession('s9', { cursorId: 'c2' }), { code: 'invalid_argument' });
  await client.request('_test/done');
  assert.equal((await client.forkSession('s1', { cursorId: 'c2' })).id, 's2');
  await end(client);
  const stable = await scripted(steps.slice(0, 8));
  await (await stable.newSession()).prompt('x');
  await assert.rejects(stable.forkSession('s1', { cursorId: 'c2' }), (/** @type {any} */ error) => error.extra.option === 'unstable');
  await stable.request('_test/done');
  await end(stable);
});

test('a suggestion is sent as a prompt as it is', async () => {
  const prompt = [{ type: 'text', text: 'and now?' }, { type: 'resource_link', uri: 'file:///a', name: 'a' }];
  const suggest = (/** @type {any[]} */ suggestions) => (
    { do: 'update', update: { sessionUpdate: 'prompt_suggestions_update', suggestions } });
  const client = await scripted([
    initialize({}), { do: 'session_new' }, { do: 'prompt_begin' }, suggest([{ prompt }, { prompt: [prompt[0]] }]), { do: 'prompt_end' },
    { do: 'prompt_begin', params: { prompt: { $exact: prompt } } }, suggest([]), { do: 'prompt_end' },
  ], { unstable: true });
  const session = await client.newSession();
  await session.prompt('x');
  const [first, ...others] = session.state?.promptSuggestions ?? [];
  assert.equal(others.length, 1);
  await session.prompt([...first.prompt]);
  assert.deepEqual(session.state?.promptSuggestions, []);
  await end(client);
});

test('an answer of another shape is a typed failure', async () => {
  for (const { call, method } of CALLS.filter(({ value }) => value !== undefined && !('done' in Object(value)))) {
    if (method === 'session/options' || method === 'auth/status') continue;
    const client = await scripted([initialize(ALL), ...answered(method, {}, { nonsense: 1 })], { unstable: true });
    await assert.rejects(call(client), { code: 'malformed_response' }, method);
    await end(client);
  }
});

test('c30_options_of_a_saved_session_need_a_way_to_reopen_it', async () => {
  const client = await scripted([initialize(ALL), ...DONE], { unstable: true });
  await assert.rejects(client.sessionOptions({ sessionId: 's' }), { code: 'unsupported_capability' });
  await client.request('_test/done');
  await end(client);
  const resumes = { ...ALL, sessionCapabilities: { ...ALL.sessionCapabilities, resume: {} } };
  const able = await scripted([initialize(resumes), ...answered('session/options', { sessionId: 's' })], { unstable: true });
  assert.deepEqual(await able.sessionOptions({ sessionId: 's' }), { modes: undefined, configOptions: undefined });
  await end(able);
});

test("a provider's headers are shown nowhere", async () => {
  const secret = 'plain-words-that-no-pattern-knows';
  /** @type {string[]} */
  const frames = [];
  const client = await scripted([initialize(ALL), ...answered('providers/set', { headers: { k: `Bearer ${secret}` } })], {
    unstable: true,
    onWire: ({ frame }) => void frames.push(frame),
  });
  await client.setProvider({ providerId: 'p', apiType: 'openai', baseUrl: 'https://x', headers: { k: `Bearer ${secret}` } });
  await end(client);
  assert.ok(frames.some((frame) => frame.includes('providers/set')));
  assert.ok(!frames.join('').includes(secret));
});

test('c20_a_change_of_the_state_of_authentication_is_told_only_with_the_switch_and_unknown_states_are_unknown', async () => {
  const steps = [
    initialize(ALL),
    { do: 'notify', method: 'auth/status_update', params: { state: 'foo', accounts: null } },
    { do: 'notify', method: '_test/next' },
    ...answered('auth/status', {}, { state: 'bar' }),
  ];
  const next = gate();
  /** @type {any[]} */
  const told = [];
  const client = await scripted(steps, {
    unstable: true,
    onAuthStatus: (status) => void told.push(status.state),
    onExtNotification: (method) => void (method === '_test/next' ? next.open() : told.push(method)),
  });
  await next.opened;
  assert.deepEqual(told, ['unknown']);
  assert.equal((await client.authStatus()).state, 'unknown');
  await end(client);

  const quiet = gate();
  /** @type {string[]} */
  const heard = [];
  const other = await scripted(steps.slice(0, 3), {
    onAuthStatus: () => void heard.push('status'),
    onExtNotification: (method) => {
      heard.push(method);
      quiet.open();
    },
  });
  await quiet.opened;
  assert.deepEqual(heard, ['_test/next']);
  await end(other);
});
