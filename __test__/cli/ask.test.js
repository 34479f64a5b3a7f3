'use strict';

const assert = require('node:assert/strict');
const { EventEmitter, once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Writable } = require('node:stream');
const test = require('node:test');

const { defaultAgentPath } = require('../../lib/default-agent');
const { acp, fakeApi, says, sink } = require('./world');

const failure = (/** @type {object} */ fields) => Object.assign(new Error('it broke'), { code: 'agent_error', ...fields });

test('streams the answer to standard output and nothing else', async () => {
  const events = [
    { type: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
    { type: 'tool_call', toolCallId: 't', title: 'Look' },
    says('Hello'),
    says(' there'),
    { type: 'plan', entries: [{ content: 'x', status: 'pending' }] },
    { type: 'unknown', raw: {} },
  ];
  const { code, stdout, stderr, seen } = await acp(['ask', 'hi', 'you'], { api: fakeApi({ events }) });
  assert.equal(code, 0);
  assert.equal(stdout, 'Hello there\n');
  assert.equal(stderr, '');
  assert.equal(seen.prompts[0][0], 'hi you');
  assert.equal(seen.closed, 1);
});

test('adds no second line end', async () => {
  assert.equal((await acp(['ask', 'hi'], { api: fakeApi({ events: [says('a\n')] }) })).stdout, 'a\n');
});

test('asks the built-in agent when none is named', async () => {
  const { seen } = await acp(['ask', 'hi']);
  assert.equal(seen.launch.command, process.execPath);
  assert.deepEqual(seen.launch.args, [defaultAgentPath()]);
  assert.equal(seen.launch.cwd, process.cwd());
});

test('starts the agent that is named, either way', async () => {
  const line = await acp(['ask', '--agent', 'my-agent --acp "a b"', '--cwd', 'docs', 'hi']);
  assert.deepEqual([line.seen.launch.command, ...line.seen.launch.args], ['my-agent', '--acp', 'a b']);
  assert.equal(line.seen.launch.cwd, path.resolve('docs'));
  assert.equal(line.seen.session.cwd, path.resolve('docs'));
  const apart = await acp(['ask', '--cmd', 'my agent', 'hi', '--', '--acp', '--help', '--']);
  assert.deepEqual([apart.seen.launch.command, ...apart.seen.launch.args], ['my agent', '--acp', '--help', '--']);
  assert.equal(apart.seen.prompts[0][0], 'hi');
});

test('hands on the variables that were named, and no secret unasked', async () => {
  const { seen } = await acp(['ask', '--env', 'API_KEY', '--env', 'MODE=a=b', '--env', 'EMPTY=', 'hi']);
  const { env } = seen.launch;
  assert.equal(env.API_KEY, 'value of API_KEY');
  assert.equal(env.MODE, 'a=b');
  assert.equal(env.EMPTY, '');
  assert.ok(seen.envNames.includes('PATH'));
  const plain = await acp(['ask', 'hi']);
  assert.ok(!plain.seen.envNames.some((/** @type {string} */ name) => /key|token|secret|password/i.test(name)));
});

test('reads the prompt from standard input', async () => {
  const { code, seen } = await acp(['ask', '-'], { input: 'from\na pipe\n' });
  assert.equal(code, 0);
  assert.equal(seen.prompts[0][0], 'from\na pipe\n');
});

test('gives the agent nothing unless told to', async () => {
  const question = { toolCall: { toolCallId: 't', title: 'rm' }, options: [] };
  const { seen } = await acp(['ask', 'hi']);
  assert.deepEqual(seen.launch.fs, { read: false, write: false });
  assert.equal(seen.launch.terminal, false);
  assert.equal(seen.launch.onPermission(question), 'deny');
  const told = await acp(['ask', '--allow', '--read', '--write', '--terminal', 'hi']);
  assert.deepEqual(told.seen.launch.fs, { read: true, write: true });
  assert.equal(told.seen.launch.terminal, true);
  assert.equal(told.seen.launch.onPermission(question), 'allow');
});

test('sends the system prompt where the agent takes one, and before the prompt elsewhere', async () => {
  const capabilities = { sessionCapabilities: { systemPrompt: {} } };
  const taken = await acp(['ask', '--system', 'Be brief.', 'hi'], { api: fakeApi({ capabilities }) });
  assert.equal(taken.seen.session.systemPrompt, 'Be brief.');
  assert.equal(taken.seen.prompts[0][0], 'hi');
  const elsewhere = await acp(['ask', '--system', 'Be brief.', 'hi']);
  assert.equal('systemPrompt' in elsewhere.seen.session, false);
  assert.equal(elsewhere.seen.prompts[0][0], 'Be brief.\n\nhi');
});

test('passes its time limit on', async () => {
  const { seen } = await acp(['ask', '--timeout', '50', 'hi']);
  const limits = [seen.launch.initializeTimeoutMs, seen.session.timeoutMs, seen.prompts[0][1].timeoutMs];
  assert.ok(limits.every((ms) => ms > 0 && ms <= 50), String(limits));
  assert.deepEqual(limits, [...limits].sort((a, b) => b - a), 'they share one');
  const long = await acp(['ask', '--timeout', '900000', 'hi']);
  assert.ok(long.seen.launch.initializeTimeoutMs > 30_000, 'a slow start can be given more than the usual');
  const none = await acp(['ask', 'hi']);
  assert.equal(none.seen.launch.initializeTimeoutMs, undefined);
  assert.equal('timeoutMs' in none.seen.session, false);
});

test('--trace writes a transcript, for its owner alone', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'acp-trace-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'wire.jsonl');
  const frames = [
    { time: 5, direction: 'to_agent', frame: '{"id":1}', truncated: false },
    { time: 7, direction: 'from_agent', frame: 'x', truncated: false },
  ];
  const during = (/** @type {any} */ seen) => frames.forEach((frame) => seen.launch.onWire(frame));
  assert.equal((await acp(['ask', '--trace', file, 'hi'], { api: fakeApi({ during }) })).code, 0);
  const [header, ...lines] = fs.readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(header, { transcript: 1, agent: path.basename(process.execPath), version: '' });
  assert.deepEqual(lines, [{ t: 0, dir: 'out', frame: { id: 1 } }, { t: 2, dir: 'in', text: 'x' }]);
  if (process.platform !== 'win32') assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  const { code, seen } = await acp(['ask', '--trace', path.join(folder, 'none', 'x'), 'hi']);
  assert.equal(code, 2);
  assert.equal(seen.launch, undefined);
});

test('--json prints one document', async () => {
  const events = [says('a'), says('b')];
  const usage = { totalTokens: 3 };
  const { code, stdout, stderr } = await acp(['ask', '--json', '--verbose', 'hi'], { api: fakeApi({ events, result: { usage } }) });
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), {
    ok: true,
    stopReason: 'end_turn',
    text: 'ab',
    usage,
    agent: { name: 'fake', version: '1' },
    protocolVersion: 1,
    sessionId: 's1',
  });
});

test('--json prints a failure as a document too', async () => {
  const turnError = failure({ phase: 'prompt', rpc: { code: -32603, message: 'no' }, partialText: 'half', retryable: false });
  const { code, stdout, stderr, seen } = await acp(['ask', '--json', 'hi'], { api: fakeApi({ turnError }) });
  assert.equal(code, 1);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), {
    ok: false,
    text: 'half',
    error: { code: 'agent_error', phase: 'prompt', message: 'it broke', rpc: { code: -32603, message: 'no' }, retryable: false },
  });
  assert.equal(seen.closed, 1);
});

test('--recover-json prints the last JSON of the answer, and fails without', async () => {
  const events = [says('Sure:\n{"a":1}\n{"b":2}\n')];
  const found = await acp(['ask', '--recover-json', 'hi'], { api: fakeApi({ events }) });
  assert.equal(found.code, 0);
  assert.deepEqual(JSON.parse(found.stdout), { b: 2 });
  const both = await acp(['ask', '--recover-json', '--json', 'hi'], { api: fakeApi({ events }) });
  assert.deepEqual(JSON.parse(both.stdout).parsed, { b: 2 });
  const none = await acp(['ask', '--recover-json', 'hi'], { api: fakeApi({ events: [says('no')] }) });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /no JSON/);
});

for (const stopReason of ['refusal', 'max_tokens', 'max_turn_requests', 'cancelled', 'something_new']) {
  test(`a turn that ends with ${stopReason} failed, its text is printed`, async () => {
    const { code, stdout, stderr } = await acp(['ask', 'hi'], { api: fakeApi({ events: [says('so far')], result: { stopReason } }) });
    assert.equal(code, 1);
    assert.equal(stdout, 'so far\n');
    assert.match(stderr, new RegExp(`ended with ${stopReason}`));
  });
}

for (const [code, expected] of [
  ['missing_binary', 127],
  ['handshake_timeout', 124],
  ['spawn_error', 1],
  ['incompatible_protocol', 1],
  [undefined, 1],
]) {
  test(`a launch that fails with ${code} exits with ${expected}`, async () => {
    const exit = { exitCode: null, signal: 'SIGKILL' };
    const launchError = failure({ code, exit, stderrTail: 'last words\u001b[2J\n' });
    const { code: exitCode, stdout, stderr, seen } = await acp(['ask', 'hi'], { api: fakeApi({ launchError }) });
    assert.equal(exitCode, expected);
    assert.equal(stdout, '');
    assert.match(stderr, /it broke/);
    assert.match(stderr, /SIGKILL/);
    assert.match(stderr, /last words\[2J\n$/);
    assert.equal(seen.closed, 0);
  });
}

for (const [signal, expected] of [['SIGINT', 130], ['SIGTERM', 143]]) {
  test(`${signal} cancels the turn, closes the agent and exits with ${expected}`, async () => {
    const signals = new EventEmitter();
    const during = async (/** @type {any} */ seen) => {
      const { signal: aborted } = seen.prompts[0][1];
      const stopped = once(aborted, 'abort');
      signals.emit(/** @type {string} */ (signal));
      await stopped;
      seen.result = { stopReason: 'cancelled', text: '', cancelRequested: true };
    };
    const { code, seen, stderr } = await acp(['ask', 'hi'], { api: fakeApi({ during }), signals });
    assert.equal(code, expected);
    assert.equal(seen.closed, 1);
    assert.equal(seen.killed, 0);
    assert.equal(stderr, '');
    assert.equal(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM'), 0);
  });
}

test('what was interrupted has one code in JSON, wherever it was', async () => {
  for (const aborted of [AbortSignal.abort().reason, Object.assign(new Error('x'), { name: 'AbortError', code: 'ABORT_ERR' })]) {
    for (const script of [{ launchError: aborted }, { turnError: aborted }]) {
      const { stdout } = await acp(['ask', '--json', 'hi'], { api: fakeApi(script) });
      assert.equal(JSON.parse(stdout).error.code, 'aborted');
    }
  }
});

test('a second Ctrl-C kills the agent', async () => {
  const signals = new EventEmitter();
  const during = () => {
    signals.emit('SIGINT');
    signals.emit('SIGINT');
  };
  const { code, seen } = await acp(['ask', 'hi'], { api: fakeApi({ during }), signals });
  assert.equal(code, 130);
  assert.equal(seen.killed, 1);
});

test('a reader that goes away ends the turn', async () => {
  const stdout = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })) }), { text: '' });
  const during = (/** @type {any} */ seen) =>
    seen.prompts[0][1].signal.aborted ? undefined : once(seen.prompts[0][1].signal, 'abort');
  const { code, seen } = await acp(['ask', 'hi'], { api: fakeApi({ events: [says('a')], during }), stdout });
  assert.equal(code, 130);
  assert.equal(seen.closed, 1);
});

test('output that cannot be written ends the turn, and is said', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  for (const words of [['ask', 'hi'], ['ask', '--json', 'hi'], ['probe'], ['--version'], ['ask', '--help']]) {
    const stdout = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done(full) }), { text: '' });
    const { code, stderr } = await acp(words, { api: fakeApi({ events: [says('a')], status: { ok: true } }), stdout });
    assert.equal(code, 1, words.join(' '));
    assert.match(stderr, /^acp: the output cannot be written: ENOSPC/, words.join(' '));
  }
});

test('a reader that went away is told by the exit code alone, whatever was to be written', async () => {
  const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
  for (const words of [['ask', 'hi'], ['ask', '--json', 'hi'], ['probe'], ['--version'], ['ask', '--help']]) {
    const stdout = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done(gone) }), { text: '' });
    const { code, stderr } = await acp(words, { api: fakeApi({ events: [says('a')], status: { ok: true } }), stdout });
    assert.deepEqual([code, stderr], [130, ''], words.join(' '));
  }
});

test('a dumb terminal gets no control sequences', async (t) => {
  const { TERM } = process.env;
  t.after(() => (TERM === undefined ? delete process.env.TERM : (process.env.TERM = TERM)));
  process.env.TERM = 'dumb';
  const events = [{ type: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } }, says('Hello')];
  const { stderr } = await acp(['ask', 'hi'], { api: fakeApi({ events }), tty: true });
  assert.equal(stderr, 'hm\n');
});

test('waits for a slow reader', async () => {
  /** @type {(() => void)[]} */
  const held = [];
  const stdout = Object.assign(
    new Writable({
      highWaterMark: 1,
      write(chunk, _encoding, done) {
        stdout.text += chunk;
        held.push(done);
      },
    }),
    { text: '' },
  );
  const api = fakeApi({ events: [says('one '), says('two')] });
  const running = acp(['ask', 'hi'], { api, stdout });
  while (held.length === 0) await new Promise((resolve) => { setImmediate(resolve); });
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => { setImmediate(resolve); });
  assert.equal(stdout.text, 'one ');
  const release = setInterval(() => held.shift()?.(), 1);
  const { code } = await running;
  clearInterval(release);
  assert.equal(code, 0);
  assert.match(stdout.text, /^one two/);
});

test('on a terminal, tells what the agent does', async () => {
  const events = [
    { type: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
    { type: 'tool_call', toolCallId: 't', title: 'Look\naround' },
    { type: 'tool_call_update', toolCallId: 't', status: 'completed' },
    { type: 'plan', entries: [{ content: 'Step', status: 'completed' }] },
    says('Hello'),
  ];
  const { stdout, stderr } = await acp(['ask', 'hi'], { api: fakeApi({ events }), tty: true });
  assert.equal(stdout, 'Hello\n');
  for (const part of ['hm', '[tool] Look around', '[tool] completed', '[plan] ✓ Step']) assert.ok(stderr.includes(part), part);
});

test('on a terminal, an answer cannot steer it', async () => {
  const events = [says('a\u001b'), says('[31mred\u0007\u009b2J\rz\u202e')];
  const { stdout } = await acp(['ask', 'hi'], { api: fakeApi({ events }), tty: true });
  assert.equal(stdout, 'a[31mred2Jz\n');
});

test('ends quietly when the output was closed before', async () => {
  const stdout = sink(false);
  stdout.destroy();
  const { code, stderr, seen } = await acp(['ask', 'hi'], { api: fakeApi({ events: [says('x')] }), stdout });
  assert.equal(code, 130);
  assert.equal(stderr, '');
  assert.equal(seen.closed, 1);
});
