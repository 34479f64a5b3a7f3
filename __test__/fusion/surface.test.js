'use strict';

// What the plugin's modules promise, row by row, as far as the files named after their subjects do not show it.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const fusion = require('../..');
const { HandshakeTimeoutError, IncompatibleProtocolError, PathJailError } = require('../../lib/errors.js');
const { adapter, connection, cwd, say, script, turn } = require('./agent.js');

const {
  AcpRuntimeAdapter, MAX_PLAN_ENTRIES, PER_CHUNK_CAP_CHARS, PER_TURN_OUTPUT_CAP_CHARS, boundString, buildSpawnEnv,
  bundledClaudeBridgeBinPath, connect, createEventBridge, createFsHandlers, isGitInternal, isSecretPath, newAcpSession,
  probeAcpReadiness, promptAcpSession, redactSecrets, resolveBundledClaudeBridgeBinary, resolveCliSettings,
  stripControlSequences,
} = fusion;

const HELLO = [{ type: 'text', text: 'hi' }];
const NOTICE = '[output truncated: per-turn limit reached — further agent output suppressed]';
const windows = process.platform === 'win32';

/** @type {string} */
let dir;
beforeEach(() => {
  dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-surface-')));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

describe('cli-spawn', () => {
  it('bundledClaudeBridgeBinPath: the shim below the given root', () => {
    const shim = windows ? 'claude-code-cli-acp.cmd' : 'claude-code-cli-acp';
    assert.equal(bundledClaudeBridgeBinPath('/r'), path.join('/r', 'node_modules', '.bin', shim));
    assert.ok(path.isAbsolute(bundledClaudeBridgeBinPath()));
  });

  it('resolveCliSettings: the sentinel becomes the bundled path where that resolves, else stays and says why', () => {
    const settings = resolveCliSettings({ acpBinaryPath: 'claude-code-cli-acp' });
    const bundled = resolveBundledClaudeBridgeBinary();
    assert.deepEqual(settings.binaryResolution, bundled);
    assert.equal(settings.binaryPath, bundled.kind === 'resolved' ? bundled.path : 'claude-code-cli-acp');
    // Another spelling is another program.
    assert.equal(resolveCliSettings({ acpBinaryPath: './claude-code-cli-acp' }).binaryPath, './claude-code-cli-acp');
  });

  it('resolveCliSettings: changes nothing of what it was given', () => {
    const given = Object.freeze({ acpArgs: Object.freeze(['a']), acpEnvAllowList: Object.freeze(['HOME']) });
    const settings = resolveCliSettings(given);
    settings.args.push('b');
    settings.envAllowList.push('PATH');
    assert.deepEqual(given, { acpArgs: ['a'], acpEnvAllowList: ['HOME'] });
  });
});

describe('event-bridge', () => {
  /** @param {object} [more] */
  function recording(more = {}) {
    const events = [];
    const bridge = createEventBridge({
      onText: (text) => events.push(['text', text]),
      onThinking: (text) => events.push(['thinking', text]),
      onToolStart: (name, args) => events.push(['start', name, args]),
      onToolEnd: (name, isError, result) => events.push(['end', name, isError, result]),
      ...more,
    });
    const send = (update) => bridge.handleSessionUpdate(update);
    const chunk = (text, tag = 'agent_message_chunk') => send({ sessionUpdate: tag, content: { type: 'text', text } });
    return { bridge, events, send, chunk };
  }

  /** What is shown of the second of two chunks. */
  function second(first, next) {
    const { events, chunk } = recording();
    chunk(first);
    chunk(next);
    return events[1][1];
  }

  it('spacing: after . ! ? and before A-Z 0-9 " \' ( [, and nowhere else', () => {
    for (const end of ['.', '!', '?']) {
      for (const start of ['A', 'Z', '0', '9', '"', "'", '(', '[']) {
        assert.equal(second(`Done${end}`, `${start}x`), ` ${start}x`, `${end}${start}`);
      }
    }
    for (const [first, next] of [
      ['Done.', 'next'], ['Done.', ' Next'], ['Done. ', 'Next'], ['Done.\n', 'Next'], ['Done,', 'Next'], ['Done:', 'Next'],
      ['Done.', ')'], ['Done.', '{'], ['Done.', 'Äh'], ['3.', '5'], ['Done', 'Next'],
    ]) {
      assert.equal(second(first, next), next, `${first}|${next}`);
    }
  });

  it('spacing: looks at what that stream said last, in this turn', () => {
    const { bridge, events, chunk } = recording();
    chunk('Done.');
    chunk('thinking', 'agent_thought_chunk');
    chunk('Next');
    bridge.reset();
    chunk('Done.');
    bridge.reset();
    chunk('Next');
    assert.deepEqual(events.map(([, text]) => text), ['Done.', 'thinking', ' Next', 'Done.', 'Next']);
  });

  it('caps: text and thoughts share one budget, which is exceeded by less than a chunk', () => {
    const { events, chunk } = recording();
    const long = 'x'.repeat(PER_CHUNK_CAP_CHARS);
    for (let i = 0; i < 100; i++) chunk(long, i % 2 === 0 ? 'agent_message_chunk' : 'agent_thought_chunk');
    const shown = events.filter(([, text]) => text !== NOTICE).reduce((sum, [, text]) => sum + text.length, 0);
    assert.ok(shown >= PER_TURN_OUTPUT_CAP_CHARS && shown < PER_TURN_OUTPUT_CAP_CHARS + PER_CHUNK_CAP_CHARS, `${shown}`);
    assert.deepEqual(events.filter(([, text]) => text === NOTICE), [['thinking', NOTICE]]);
  });

  it('caps: plans are silent, too, and tool calls are not', () => {
    const { bridge, events, chunk, send } = recording();
    for (let i = 0; i < 80; i++) chunk('x'.repeat(PER_CHUNK_CAP_CHARS));
    events.length = 0;
    send({ sessionUpdate: 'plan', entries: [{ content: 'a' }] });
    chunk('more');
    send({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'Run' });
    send({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' });
    assert.deepEqual(events.map(([kind]) => kind), ['start', 'end']);
    bridge.reset();
    send({ sessionUpdate: 'plan', entries: [{ content: 'a' }] });
    assert.deepEqual(events.at(-1), ['thinking', 'Plan:\n- [pending] a']);
  });

  it('caps: a stream of nothing but plans ends as well', () => {
    const { events, send } = recording();
    const entries = Array.from({ length: MAX_PLAN_ENTRIES }, () => ({ content: 'x'.repeat(600), status: 'pending' }));
    for (let i = 0; i < 100; i++) send({ sessionUpdate: 'plan', entries });
    const shown = events.reduce((sum, [, text]) => sum + text.length, 0);
    assert.ok(shown < PER_TURN_OUTPUT_CAP_CHARS + PER_CHUNK_CAP_CHARS + NOTICE.length);
    assert.equal(events.filter(([, text]) => text === NOTICE).length, 1);
  });

  it('tools: ids that are bounded to the same are the same call', () => {
    const { events, send } = recording();
    send({ sessionUpdate: 'tool_call', toolCallId: 'a/b', title: 'Run' });
    send({ sessionUpdate: 'tool_call_update', toolCallId: 'a\\b', status: 'completed', rawOutput: 'x' });
    assert.deepEqual(events, [['start', 'Run', {}], ['end', 'Run', false, 'x']]);
  });

  it('tools: title and kind are carried forward, and a later one replaces them', () => {
    const { events, send } = recording();
    send({ sessionUpdate: 'tool_call', toolCallId: 't', kind: 'read' });
    send({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'in_progress', title: 'Read a.txt' });
    send({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'failed' });
    assert.deepEqual(events.map((event) => event.slice(0, 2)), [['start', 'Read'], ['end', 'Read a.txt']]);
  });

  it('callbacks: any of them may be absent', () => {
    const bridge = createEventBridge({});
    for (const sessionUpdate of ['agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'tool_call_update', 'plan']) {
      bridge.handleSessionUpdate({ sessionUpdate, toolCallId: 't', content: { type: 'text', text: 'x' }, entries: [], status: 'completed' });
    }
    bridge.reset();
  });
});

describe('fs-capabilities', () => {
  const gate = { permissionPolicy: { rules: { file_write_delete: 'allow' } } };
  const open = (more = {}) => createFsHandlers({ cwd: dir, allowRead: true, allowWrite: true, gate, allowUnrestricted: true, ...more });
  const code = (expected) => (error) => error.code === expected;

  it('read: the jail is asked before the name, secrets before git', async () => {
    const { readTextFile } = open();
    await assert.rejects(readTextFile({ path: '../.env' }), code('path_outside_cwd'));
    fs.mkdirSync(path.join(dir, '.git'));
    fs.writeFileSync(path.join(dir, '.git', '.env'), 'x');
    await assert.rejects(readTextFile({ path: '.git/.env' }), code('denied_secret'));
  });

  it('write: size, then the jail, then git, then secrets, then the gate', async () => {
    const { writeTextFile } = open({ writeMaxBytes: 4, gate: undefined });
    fs.mkdirSync(path.join(dir, '.git'));
    await assert.rejects(writeTextFile({ path: '../.git/.env', content: '12345' }), code('content_too_large'));
    await assert.rejects(writeTextFile({ path: '../.git/.env', content: '1' }), code('path_outside_cwd'));
    await assert.rejects(writeTextFile({ path: '.git/.env', content: '1' }), code('denied_git'));
    await assert.rejects(writeTextFile({ path: '.env', content: '1' }), code('denied_secret'));
    await assert.rejects(writeTextFile({ path: 'a', content: '1' }), code('write_denied'));
    assert.deepEqual(fs.readdirSync(dir), ['.git']);
  });

  it('write: a shorter content leaves nothing of the longer one, and the mode stays', { skip: windows && 'no modes' }, async () => {
    const file = path.join(dir, 'run.sh');
    fs.writeFileSync(file, 'a long content', { mode: 0o755 });
    await open().writeTextFile({ path: file, content: 'short' });
    assert.equal(fs.readFileSync(file, 'utf8'), 'short');
    assert.equal(fs.statSync(file).mode & 0o777, 0o755);
    await open().writeTextFile({ path: 'new.txt', content: '' });
    assert.equal(fs.statSync(path.join(dir, 'new.txt')).mode & 0o777 & ~0o644, 0);
  });

  it('write: a size counts in bytes, and the ceiling itself is allowed', async () => {
    assert.deepEqual(await open({ writeMaxBytes: 4 }).writeTextFile({ path: 'a', content: 'éé' }), {});
    await assert.rejects(open({ writeMaxBytes: 3 }).writeTextFile({ path: 'a', content: 'éé' }), code('content_too_large'));
  });
});

describe('path-jail', () => {
  it('a link inside the directory to a file inside is served, one that leads out is not', { skip: windows && 'needs a privilege' }, async () => {
    fs.writeFileSync(path.join(dir, 'a.txt'), 'text');
    fs.symlinkSync('a.txt', path.join(dir, 'in'));
    fs.symlinkSync('/etc/hosts', path.join(dir, 'out'));
    const { readTextFile } = createFsHandlers({ cwd: dir, allowRead: true, allowWrite: false });
    assert.deepEqual(await readTextFile({ path: 'in' }), { content: 'text' });
    await assert.rejects(readTextFile({ path: 'out' }), (error) => error instanceof PathJailError && error.name === 'PathJailError'
      && error.code === 'path_outside_cwd' && error.message.startsWith('resolved path escapes cwd: '));
  });

  it('isGitInternal: any segment, not a part of one', () => {
    for (const name of ['.git', '/a/.git', '/a/.git/hooks/x', 'a/.git/']) assert.ok(isGitInternal(name), name);
    for (const name of ['/a/x.git/config', '/a/.gitmodules', '/a/git/x', '']) assert.ok(!isGitInternal(name), name);
  });
});

describe('process-manager', () => {
  it('buildSpawnEnv: an empty value is a value', () => {
    assert.deepEqual(buildSpawnEnv(['A'], { sourceEnv: { A: '' }, required: ['A'] }), { A: '' });
  });

  it('redactSecrets: headers, bearers, assignments, known prefixes, long base64 and hex', () => {
    const secret = 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6';
    const shown = {
      [`Authorization: Basic ${secret}`]: secret,
      'Authorization: Bearer abc.def.ghi': 'abc.def.ghi',
      'bearer abcdefgh12345678': 'abcdefgh12345678',
      'api_key=verysecretvalue1': 'verysecretvalue1',
      'password: hunter2hunter2': 'hunter2hunter2',
      'token="abcdef123456"': 'abcdef123456',
      'sk-abcdefghijklmnopqrstuvwx': 'sk-abcdefghijklmnopqrstuvwx',
      'github_pat_abcdefghijklmnopqrstuvwxyz': 'github_pat_abcdefghijklmnopqrstuvwxyz',
      'xoxb-1234567890-abcdefghij': 'xoxb-1234567890-abcdefghij',
      AKIAIOSFODNN7EXAMPLE: 'AKIAIOSFODNN7EXAMPLE',
      [`blob ${secret}`]: secret,
      [`hash ${'0123456789abcdef'.repeat(2)}`]: '0123456789abcdef'.repeat(2),
    };
    for (const [text, hidden] of Object.entries(shown)) {
      const redacted = redactSecrets(`before ${text} after`);
      assert.ok(!redacted.includes(hidden), redacted);
      assert.match(redacted, /\[REDACTED\]/);
      assert.match(redacted, /^before .* after$/);
    }
  });
});

describe('sanitize', () => {
  it('stripControlSequences: carriage returns go, unfinished sequences take their payload along', () => {
    assert.equal(stripControlSequences('a\r\nb\rc'), 'a\nbc');
    for (const sequence of ['\x1b]0;evil', '\x1bPq#0;2', '\x1b_payload', '\x9b31m', '\x1b[31']) {
      assert.ok(!/evil|payload|31|#0/.test(stripControlSequences(`a${sequence}`)), JSON.stringify(sequence));
    }
  });

  it('boundString: never longer than its limit, never half of a character', () => {
    for (let max = 0; max < 40; max++) {
      const cut = boundString('😀'.repeat(30), max);
      assert.ok(cut.length <= max);
      assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(cut), `${max}`);
    }
  });
});

describe('provider', () => {
  it('connect: protocol version 1, and what the client can do', async () => {
    const params = { protocolVersion: 1, clientCapabilities: { terminal: { $absent: true } } };
    const open = await connection([{ do: 'initialize', params }]);
    assert.notEqual(open.agentCapabilities?.loadSession, true);
    assert.deepEqual(open.authMethods, []);
    open.dispose();
  });

  it('connect: an answer without a version is another version', async () => {
    const steps = [{ do: 'expect', method: 'initialize' }, { do: 'respond', result: {} }];
    await assert.rejects(connection(steps), (error) => error instanceof IncompatibleProtocolError
      && error.message === 'ACP agent negotiated incompatible protocol version undefined (client supports 1)');
  });

  it('connect: a handshake in time that was given no time', async () => {
    const { command, args } = script([{ do: 'expect', method: 'initialize' }]);
    const options = { binaryPath: command, args, cwd, env: {}, advertiseFs: { read: false, write: false } };
    await assert.rejects(connect({ ...options, initializeTimeoutMs: 100 }), (error) => error instanceof HandshakeTimeoutError && error.timeoutMs === 100);
  });

  it('a turn: lines that are no JSON, unknown updates and unknown stop reasons do not disturb it', async () => {
    const seen = [];
    const during = [
      { do: 'raw', text: 'a log line\n' }, say('Hi'),
      { do: 'update', update: { sessionUpdate: 'made_up', x: 1 } }, { do: 'raw', text: '{"jsonrpc":\n' }, say('.'),
    ];
    const { handler } = fusion.createBridgingClientHandler({ onText: (text) => seen.push(text) });
    const open = await connection(turn(during, 'made_up_reason'), { clientHandler: handler });
    await newAcpSession(open, { cwd });
    assert.equal(await promptAcpSession(open, 's1', HELLO), 'made_up_reason');
    assert.deepEqual(seen, ['Hi', '.']);
    open.dispose();
  });

  it('newAcpSession: exactly cwd and mcpServers reach the agent, _meta only when there is some', async () => {
    const steps = (params) => [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1', params }];
    const plain = await connection(steps({ $exact: { cwd, mcpServers: [] } }));
    await newAcpSession(plain, { cwd, meta: {} });
    plain.dispose();
    const more = await connection(steps({ $exact: { cwd, mcpServers: [], _meta: { a: 1 } } }));
    await newAcpSession(more, { cwd, meta: { a: 1 } });
    more.dispose();
  });
});

describe('probe', () => {
  it('leaves nothing and advertises no files, whatever it finds', async () => {
    const { command, args } = script([{ do: 'initialize', params: { clientCapabilities: { fs: { readTextFile: { $not: true }, writeTextFile: { $not: true } } } } }]);
    assert.equal((await probeAcpReadiness({ binaryPath: command, args, cwd, env: {} })).ok, true);
    assert.equal(fusion.activeProcessCount(), 0);
  });
});

describe('runtime-adapter', () => {
  it('createSession: the members of a session', async () => {
    const gate = { permissionPolicy: { rules: {} } };
    const runtime = adapter(turn(), { acpModel: 'm' });
    const onText = () => {};
    const { session } = await runtime.createSession({ cwd, systemPrompt: 'Be brief.', actionGateContext: gate, onText });
    assert.deepEqual(
      [session.model, session.systemPrompt, session.sessionId, session.cwd, session.lastModelDescription, session.gate, session.disposePromise],
      ['m', 'Be brief.', 's1', cwd, 'acp/m', gate, undefined],
    );
    assert.equal(session.callbacks.onText, onText);
    assert.equal(typeof session.connection.conn.newSession, 'function');
    for (const name of ['resetTurn', 'dispose', 'subscribe', 'prompt', 'abort', 'steer']) assert.equal(typeof session[name], 'function', name);
    assert.equal(session.disposeBridge, undefined);
    session.dispose();
    assert.ok(session.disposePromise instanceof Promise);
    await session.disposePromise;
  });

  it('describeModel: the setting, else the engine’s model, else acp', async () => {
    for (const [settings, options, expected] of [
      [{ acpModel: 'm' }, { defaultModelId: 'n' }, 'acp/m'], [{}, { defaultModelId: 'n' }, 'acp/n'], [{}, {}, 'acp/acp'],
    ]) {
      const runtime = adapter(turn(), settings);
      const { session } = await runtime.createSession({ cwd, systemPrompt: '', ...options });
      assert.equal(runtime.describeModel(session), expected);
      await runtime.dispose(session);
    }
  });

  it('createSession: tools whose bridge cannot start cost no session, and are told by a fixed code', async (t) => {
    t.mock.method(fs, 'existsSync', () => false);
    const said = [];
    const runtime = adapter(turn());
    const { session } = await runtime.createSession({
      cwd, systemPrompt: '', customTools: [{ name: 'fn_x', execute: async () => 'x' }], onText: (text) => said.push(text),
    });
    assert.deepEqual(said, ['FUSION_TOOL_BRIDGE_FAILED: mcp-schema-server-missing']);
    assert.deepEqual(session.fusionToolBridgeError, { reasonCode: 'mcp-schema-server-missing' });
    assert.deepEqual(await runtime.promptWithFallback(session, 'hi'), { stopReason: 'end_turn' });
    await runtime.dispose(session);
  });

  it('subscribe: nobody hears anything after dispose, and what a listener or callback throws costs nobody an event', async () => {
    const seen = [];
    const runtime = adapter(turn([say('a'), say('b')]));
    const { session } = await runtime.createSession({
      cwd, systemPrompt: '', onText: () => {
        throw new Error('callback');
      },
    });
    session.subscribe(() => {
      throw new Error('listener');
    });
    session.subscribe((event) => seen.push(event.assistantMessageEvent.delta));
    await runtime.promptWithFallback(session, 'hi');
    assert.equal(seen.join(''), 'ab');
    session.dispose();
    session.text('late');
    assert.equal(seen.join(''), 'ab');
    await session.disposePromise;
  });

  it('dispose: cancels a running turn first, and may be called again, on a session that is gone as well', async () => {
    const steps = [...turn().slice(0, 3), say('working'), { do: 'expect', method: 'session/cancel' }, { do: 'prompt_end', stopReason: 'cancelled' }];
    const runtime = adapter(steps);
    let started;
    const working = new Promise((resolve) => {
      started = resolve;
    });
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', onText: () => started() });
    const running = runtime.promptWithFallback(session, 'hi');
    await working;
    await runtime.dispose(session);
    assert.deepEqual(await running, { stopReason: 'cancelled' });
    await runtime.dispose(session);
    session.dispose();
    assert.equal(fusion.activeProcessCount(), 0);
    await new AcpRuntimeAdapter().dispose(/** @type {any} */ ({ dispose() {} }));
  });

  it('promptWithFallback: a prompt on a disposed session says so', async () => {
    const runtime = adapter(turn());
    const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
    await runtime.dispose(session);
    await assert.rejects(runtime.promptWithFallback(session, 'hi'), (error) => typeof error.code === 'string');
  });
});
