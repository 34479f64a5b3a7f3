'use strict';

// What a session is opened with, what is refused before it reaches the wire, and its configuration afterwards.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, initialize, scripted } = require('../support/scripted.js');

const DONE = answered('_test/done');
const TRACE = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b', baggage: 'k=v' };
const META = { ...TRACE, nested: { 'vendor/x': [1, null] } };

for (const [method, open] of /** @type {const} */ ([
  ['session/new', 'newSession'], ['session/load', 'loadSession'], ['session/resume', 'resumeSession'], ['session/fork', 'forkSession'],
])) {
  test(`${method} passes on everything that it was given, and _meta as it is`, async () => {
    const capabilities = {
      loadSession: true,
      mcpCapabilities: { http: true },
      sessionCapabilities: { resume: {}, fork: {}, additionalDirectories: {}, systemPrompt: {}, options: {} },
    };
    const http = { type: /** @type {const} */ ('http'), name: 'h', url: 'https://x', headers: [{ name: 'A', value: 'b' }] };
    const params = {
      cwd: process.cwd(), additionalDirectories: ['/one', '/two'], mcpServers: [http],
      systemPrompt: { mode: 'append', content: [{ type: 'text', text: 'Be brief.' }] },
      configOptions: { $exact: [{ configId: 'c', value: 'v' }] }, _meta: { $exact: META },
    };
    const result = { sessionId: 's1', _meta: { echoed: true } };
    const client = await scripted([initialize(capabilities), ...answered(method, params, result)], { unstable: true });
    const options = {
      additionalDirectories: ['/one', '/two'], mcpServers: [http], systemPrompt: 'Be brief.', configOptions: { c: 'v' }, meta: META,
    };
    const session = open === 'newSession' ? await client.newSession(options) : await client[open]('s1', options);
    assert.equal(session.id, 's1');
    assert.deepEqual(session.meta, { echoed: true });
    await end(client);
  });
}

test('what the agent did not advertise, and what is no absolute path, never reaches the wire', async () => {
  const client = await scripted([initialize({}), ...DONE]);
  const http = { type: /** @type {const} */ ('http'), name: 'h', url: 'https://x', headers: [] };
  /** @type {Array<[any, string]>} */
  const refused = [
    [{ mcpServers: [http] }, 'unsupported_capability'],
    [{ mcpServers: [{ ...http, type: 'sse' }] }, 'unsupported_capability'],
    [{ mcpServers: [{ type: 'acp', name: 'a', handle: () => ({}) }] }, 'unsupported_capability'],
    [{ mcpServers: [{ type: 'acp', name: 'a', serverId: 's' }] }, 'invalid_argument'],
    [{ mcpServers: [{ name: 'no command' }] }, 'invalid_argument'],
    [{ additionalDirectories: ['/x'] }, 'unsupported_capability'],
    [{ systemPrompt: 'x' }, 'unsupported_capability'],
    [{ cwd: 'relative' }, 'invalid_argument'],
  ];
  for (const [options, code] of refused) await assert.rejects(client.newSession(options), { code }, JSON.stringify(options));
  for (const open of /** @type {const} */ (['loadSession', 'resumeSession', 'forkSession'])) {
    await assert.rejects(client[open]('s'), { code: 'unsupported_capability' });
  }
  await client.request('_test/done');
  await end(client);
});

test('_meta goes along with every call, and comes back from a turn', async () => {
  const _meta = { $exact: TRACE };
  const client = await scripted([
    initialize({ sessionCapabilities: { close: {}, list: {} } }),
    ...answered('session/list', { _meta }, { sessions: [] }),
    { do: 'session_new' },
    { do: 'prompt_begin', params: { _meta } },
    { do: 'prompt_end', result: { _meta: { cost: 1 } } },
    ...answered('_x/y', { $exact: { a: 1, _meta: TRACE } }, { done: true }),
  ]);
  for await (const info of client.listSessions({ meta: TRACE })) assert.fail(info.sessionId);
  const session = await client.newSession();
  assert.deepEqual((await session.prompt('x', { meta: TRACE })).meta, { cost: 1 });
  assert.deepEqual(await client.request('_x/y', { a: 1 }, { meta: TRACE }), { done: true });
  await end(client);
});

const SELECT = {
  id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'small',
  options: [{ group: 'g', name: 'G', options: [{ value: 'small', name: 'S' }, { value: 'large', name: 'L' }] }],
};
const OTHER = { ...SELECT, id: 'fallback', options: [{ value: 'tiny', name: 'T' }], currentValue: 'tiny' };
const SWITCH = { id: 'fast', name: 'Fast', type: 'boolean', currentValue: false };
const DIAL = { id: 'dial', name: 'Dial', type: 'dial', currentValue: 'x' };
const OPTIONS = [SELECT, OTHER, SWITCH, DIAL];

test('configuration options are checked against what the session offers', async () => {
  const set = (/** @type {object} */ exact) =>
    answered('session/set_config_option', { $exact: { sessionId: 's1', ...exact } }, { configOptions: OPTIONS });
  const client = await scripted([
    initialize({}),
    ...answered('session/new', {}, { sessionId: 's1', configOptions: OPTIONS }),
    ...set({ configId: 'model', value: 'large' }),
    ...set({ configId: 'fast', type: 'boolean', value: true }),
    ...set({ configId: 'dial', value: 'anything' }),
    ...set({ configId: 'model', value: 'large' }),
    ...set({ configId: 'fallback', value: 'tiny' }),
    ...DONE,
  ]);
  const session = await client.newSession();
  /** @type {Array<[string, any]>} */
  const refused = [['model', 'huge'], ['model', true], ['fast', 'true'], ['ghost', 'x'], ['dial', 3], ['model', 'g']];
  for (const [id, value] of refused) await assert.rejects(session.setConfigOption(id, value), { code: 'invalid_argument' }, `${id} ${value}`);
  await assert.rejects(session.setModel('huge'), { code: 'invalid_argument' });
  await assert.rejects(session.setConfigCategory('thought_level', 'x'), { code: 'unsupported_capability' });
  await assert.rejects(session.setMode('x'), { code: 'unsupported_capability' });
  assert.deepEqual(await session.setConfigOption('model', 'large'), OPTIONS);
  await session.setConfigOption('fast', true);
  await session.setConfigOption('dial', 'anything');
  await session.setModel('large');
  await session.setConfigCategory('model', 'tiny');
  await client.request('_test/done');
  await end(client);
});
