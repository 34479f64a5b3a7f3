'use strict';

// Whatever a caller hands in by mistake is an `invalid_argument` that names the argument: nothing was sent, nothing was
// started, and the client and its session go on as if the call had not been made.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { inspect } = require('node:util');
const { AcpClient, activeProcessCount, buildSpawnEnv } = require('../..');
const { script } = require('../support/fake-agent.js');
const { answered, end, initialize, scripted } = require('../support/scripted.js');

/** @typedef {import('../../types/client').AcpClient} AcpClient */
/** @typedef {import('../../types/client').AcpSession} AcpSession */

/** @type {any} */
const circular = {};
circular.self = circular;
const LISTENS_ONLY = { aborted: false, addEventListener() {} };

/** What a client advertises that is asked for nothing. */
const DEFAULTS = {
  fs: { readTextFile: false, writeTextFile: false },
  session: { compaction: {}, configOptions: { boolean: {} }, notices: {} },
  plan: {},
  subagents: {},
};

/** Wrong values by the kind that is expected. */
const WRONG = {
  string: [5, true, {}, []],
  text: [5, true],
  flag: [1, 'yes', {}],
  which: [1, {}, []],
  number: ['500', NaN, -1, {}, true],
  record: [5, 'x', true, []],
  list: [5, 'x', {}],
  strings: [5, 'x', [5], {}],
  callback: [5, 'allow', {}, true],
  signal: [{}, 5, 'x', LISTENS_ONLY, { addEventListener() {}, removeEventListener() {} }],
};

const CALL = /** @type {const} */ ({ signal: 'signal', timeoutMs: 'number', meta: 'record' });
const PROMPT = /** @type {const} */ ({ ...CALL, idleTimeoutMs: 'number', settleMs: 'number', queue: 'flag' });
const SESSION = /** @type {const} */ ({
  ...CALL, cwd: 'string', mcpServers: 'list', additionalDirectories: 'strings', systemPrompt: 'text', configOptions: 'record',
  queue: 'flag', maxQueuedTurns: 'number', coalesce: 'flag', onReplay: 'callback', replay: 'flag', cursorId: 'string',
});
const LAUNCH = /** @type {const} */ ({
  command: 'string', args: 'strings', cwd: 'string', env: 'text', clientInfo: 'record', richUpdates: 'flag', state: 'flag',
  terminalAuth: 'flag', capabilitiesMeta: 'record', unstable: 'flag', signal: 'signal', initializeTimeoutMs: 'number',
  initializeMaxMs: 'number', requestTimeoutMs: 'number', maxMessageBytes: 'number', stderrBytes: 'number', cancelGraceMs: 'number',
  permissionTimeoutMs: 'number', fs: 'record', elicitation: 'record', onPermission: 'callback', onElicitation: 'callback',
  onElicitationComplete: 'callback', onAuthStatus: 'callback', onExtRequest: 'callback', onExtNotification: 'callback', onWire: 'callback',
});

/** @param {string} name */
function named(name) {
  return (/** @type {any} */ error) => {
    assert.equal(error?.name, 'AcpError', `${error?.stack}`);
    assert.equal(error.code, 'invalid_argument');
    assert.ok(error.message.includes(name), error.message);
    assert.equal(error.promptMayHaveBeenSent, false);
    return true;
  };
}

/** @param {any} value */
const shown = (value) => inspect(value);

/** A client whose agent answers one session and one prompt, and fails at anything else. @param {object} [capabilities] */
function strict(capabilities = {}) {
  return scripted([
    initialize(capabilities),
    { do: 'expect', method: 'session/new', strict: true }, { do: 'respond', result: { sessionId: 's1', modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }] } } },
    { do: 'expect', method: 'session/prompt', strict: true }, { do: 'respond', result: { stopReason: 'end_turn' } },
  ], { unstable: true });
}

/**
 * Makes every wrong call, then uses the session.
 *
 * @param {Array<[string, (session: AcpSession, client: AcpClient, value: any) => any, readonly any[]]>} calls
 */
async function refused(calls) {
  const client = await strict({ loadSession: true, sessionCapabilities: { resume: {}, fork: {}, list: {}, delete: {} } });
  const session = await client.newSession();
  for (const [name, call, values] of calls) {
    for (const value of values) {
      await assert.rejects(async () => call(session, client, value), named(name), `${name}: ${shown(value)}`);
    }
  }
  assert.equal((await session.prompt('x')).stopReason, 'end_turn');
  await end(client);
}

/** @param {Record<string, keyof typeof WRONG>} kinds @param {(session: AcpSession, client: AcpClient, options: any) => any} call */
function each(kinds, call) {
  return Object.entries(kinds).map(([name, kind]) =>
    /** @type {[string, (session: AcpSession, client: AcpClient, value: any) => any, readonly any[]]} */ (
      [name, (session, client, value) => call(session, client, { [name]: value }), WRONG[kind]]));
}

test('options of a prompt', () => refused([
  ...each(PROMPT, (session, _, options) => session.prompt('x', options)),
  ...each(PROMPT, (session, _, options) => session.interruptWith('x', options)),
  ['options', (session, _, value) => session.prompt('x', value), WRONG.record],
  ['options', (session, _, value) => session.prompt('x', { meta: value }), [circular, { big: 1n }]],
]));

test('what is prompted', () => refused([
  ['a prompt', (session, _, value) => session.prompt(value), [undefined, null, 5, {}, true, () => {}]],
  ['a prompt', (session, _, value) => session.interruptWith(value), [undefined, null, 5, {}]],
  ['prompt', (session, _, value) => session.prompt(value), [
    [], [null], [5], [{}], [circular], [{ type: 'text', text: 1n }], [{ type: 'text', text: 5 }], [{ type: 'text' }],
    [{ type: 'image', data: 5, mimeType: 'a' }], [{ type: 'resource_link', uri: 'x' }], [{ type: 'resource', resource: 'x' }],
  ]],
]));

test('options of a session', () => refused([
  ...each(SESSION, (_, client, options) => client.newSession(options)),
  ...each(SESSION, (_, client, options) => client.loadSession('s2', options)),
  ...each(SESSION, (_, client, options) => client.resumeSession('s2', options)),
  ...each(SESSION, (_, client, options) => client.forkSession('s1', options)),
  ['sessionId', (_, client, value) => client.loadSession(value), [undefined, ...WRONG.string]],
  ['sessionId', (_, client, value) => client.resumeSession(value), [undefined, ...WRONG.string]],
  ['sessionId', (_, client, value) => client.forkSession(value), [undefined, ...WRONG.string]],
  ['options', (_, client, value) => client.newSession(value), WRONG.record],
]));

test('options and arguments of calls', () => refused([
  ...each(CALL, (_, client, options) => client.request('_x/y', {}, options)),
  ...each(CALL, (_, client, options) => client.deleteSession('s', options)),
  ...each(CALL, (session, _, options) => session.setMode('a', options)),
  ...each({ ...CALL, cwd: 'string', archived: 'which' }, (_, client, options) => client.listSessions(options).next()),
  ['method', (_, client, value) => client.request(value, {}), WRONG.string],
  ['params', (_, client, value) => client.request('_x/y', value), [circular, { big: 1n }]],
  ['method', (_, client, value) => client.notify(value, {}), WRONG.string],
  ['params', (_, client, value) => client.notify('_x/y', value), [circular, { big: 1n }]],
  ['sessionId', (_, client, value) => client.deleteSession(value), WRONG.string],
  ['sessionId', (_, client, value) => client.sessionStatus(value), WRONG.string],
  ['sessionId', (_, client, value) => client.archiveSession(value), WRONG.string],
  ['title', (session, _, value) => session.setTitle(value), WRONG.string],
  ['graceMs', (_, client, value) => client.close({ graceMs: value }), WRONG.number],
]));

test('options of a launch', async () => {
  const agent = { ...script([{ do: 'initialize' }]), cwd: process.cwd() };
  for (const [name, kind] of Object.entries(LAUNCH)) {
    for (const value of WRONG[kind]) {
      await assert.rejects(AcpClient.launch(/** @type {any} */ ({ ...agent, [name]: value })), named(name), `${name}: ${shown(value)}`);
    }
  }
  const nested = { fs: { read: 1 }, terminal: { maxTerminals: 'x' }, elicitation: { form: 'x' }, authenticate: { methodId: 5 } };
  for (const [name, value] of Object.entries(nested)) {
    const full = `${name}.${Object.keys(value)[0]}`;
    await assert.rejects(AcpClient.launch(/** @type {any} */ ({ ...agent, [name]: value })), named(full));
  }
  for (const [name, value] of [['terminal', 5], ['terminal', []], ['authenticate', 'x']]) {
    await assert.rejects(AcpClient.launch(/** @type {any} */ ({ ...agent, [/** @type {string} */ (name)]: value })), named(`${name} must be true, false or an object`));
  }
  const clientInfo = { name: 'a', version: '1', more: circular };
  await assert.rejects(AcpClient.launch(/** @type {any} */ ({ ...agent, clientInfo })), named('options of the launch'));
  assert.equal(activeProcessCount(), 0);
});

test('parameters of a request', () => refused([
  ['params', (_, client, value) => client.request('_x/y', value), [null, 5, 'x', true]],
  ['params', (_, client, value) => client.request('_x/y', value, { meta: {} }), [[1], 'x']],
]));

test('absent options are none', async () => {
  const nothing = /** @type {any} */ (null);
  const client = await strict();
  const session = await client.newSession(nothing);
  assert.equal((await session.prompt('x', nothing)).stopReason, 'end_turn');
  await end(client);
});

test('options that are null are absent, and nothing of them is sent', async () => {
  const none = (/** @type {readonly string[]} */ names) => /** @type {any} */ (Object.fromEntries(names.map((name) => [name, null])));
  const client = await scripted([
    { do: 'expect', method: 'initialize', params: { clientCapabilities: { $exact: DEFAULTS } }, strict: true },
    { do: 'respond', result: { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { list: {}, delete: {} } } } },
    ...answered('session/list', { $exact: {} }, { sessions: [] }),
    ...answered('session/delete', { $exact: { sessionId: 's9' } }),
    ...answered('_x/y', { $exact: { a: 1 } }),
    ...answered('_x/z', { $exact: [1] }),
  ], none([
    'signal', 'clientInfo', 'richUpdates', 'state', 'terminalAuth', 'capabilitiesMeta', 'unstable', 'authenticate', 'requestTimeoutMs',
    'cancelGraceMs', 'permissionTimeoutMs', 'fs', 'terminal', 'elicitation', 'onPermission', 'onElicitation', 'onElicitationComplete',
    'onAuthStatus', 'onExtRequest', 'onExtNotification', 'onWire',
  ]));
  for await (const _ of client.listSessions(none(['cwd', 'archived', 'meta', 'timeoutMs', 'signal']))) assert.fail();
  await client.deleteSession('s9', /** @type {any} */ (null));
  await client.request('_x/y', { a: 1 }, none(['meta', 'timeoutMs', 'signal']));
  await client.request('_x/z', [1], /** @type {any} */ (null));
  await assert.rejects(client.listProviders(/** @type {any} */ (null)), { code: 'unsupported_capability' });
  await end(client);
});

test('settings inside of options that are null are absent, too', async () => {
  const client = await scripted([initialize({})], /** @type {any} */ ({
    authenticate: { methodId: null, preferMethods: null, meta: null, require: null, timeoutMs: null },
    fs: { read: null, write: null, readMaxBytes: null, writeMaxBytes: null, approveWrite: null },
    terminal: { outputByteLimit: null, maxTerminals: null, approve: null },
    elicitation: { form: null, url: null },
  }));
  await end(client);
});

test('a client says its name and version, or nothing', async () => {
  for (const clientInfo of [{}, { name: 'x' }, { name: 1, version: '1' }, { name: 'x', version: '1', title: 5 }]) {
    await assert.rejects(AcpClient.launch(/** @type {any} */ ({ command: process.execPath, clientInfo })), { code: 'invalid_argument' });
  }
});

test('a signal that fails in use does not keep its session', async () => {
  const client = await strict();
  const session = await client.newSession();
  const broken = { aborted: false, addEventListener() { throw new Error('mine'); }, removeEventListener() { throw new Error('mine too'); } };
  await assert.rejects(Promise.resolve(session.prompt('x', { signal: broken })), /mine/);
  assert.equal((await session.prompt('x')).stopReason, 'end_turn');
  await end(client);
});

test('lists for the environment of an agent', () => {
  for (const value of WRONG.strings) {
    assert.throws(() => buildSpawnEnv(/** @type {any} */ (value)), named('allowList'));
    assert.throws(() => buildSpawnEnv([], /** @type {any} */ ({ required: value })), named('required'));
  }
});
