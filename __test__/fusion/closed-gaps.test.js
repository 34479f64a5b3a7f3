'use strict';

// Faults of the plugin that this package closes, one test for each, as far as the files named after their subjects do not
// show it. `docs/differences.md` tells them from a caller's side.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const {
  AcpRuntimeAdapter, activeProcessCount, askAcpOnce, createEventBridge, createFsHandlers, isGitInternal, isSecretPath,
  loadAcpSession, probeAcpReadiness, runCliAgentValidation,
} = require('../..');
const { adapter, connection, cwd, say, script, settings, turn } = require('./agent.js');
const { behindShell, fakeAgent } = require('../support/fake-agent.js');
const { alive } = require('../support/process.js');

const unix = { skip: process.platform === 'win32' && 'a Unix shell' };
/** What the engine takes for a passing fault. */
const TRANSIENT = [/\bacp rpc code -32(?:603|00[0-3])\b/i, /\bACP turn failed\b/i, /\bACP failed to start\b/i];
const isTransient = (text) => TRANSIENT.some((pattern) => pattern.test(text));

/** @type {string} */
let dir;
beforeEach(() => {
  dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-gaps-')));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

describe('processes', () => {
  it('a shim and the agent behind it both end', unix, async () => {
    const pids = path.join(dir, 'pid');
    const { command, args } = behindShell(script([{ do: 'write_pid', file: pids }, ...turn([{ do: 'ignore_sigterm' }, { do: 'ignore_eof' }])]));
    const runtime = new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args, acpEnvAllowList: ['PATH'] });
    const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
    await runtime.promptWithFallback(session, 'hi');
    const pid = Number(fs.readFileSync(pids, 'utf8').trim().split('\n').at(-1));
    assert.notEqual(pid, session.connection.child.pid, 'the agent is behind a shell');
    session.dispose();
    await session.disposePromise;
    assert.equal(alive(pid), false);
    assert.equal(activeProcessCount(), 0);
  });

  it('an agent on the host’s PATH is found although its own environment has none', unix, async () => {
    const name = path.basename(fakeAgent());
    const saved = process.env.PATH;
    process.env.PATH = `${path.dirname(fakeAgent())}:${saved}`;
    try {
      const { args } = script([...turn([{ do: 'check', value: '{{env.PATH}}', matches: { $absent: true } }])]);
      const runtime = new AcpRuntimeAdapter({ acpBinaryPath: name, acpArgs: args });
      const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
      await runtime.dispose(session);
    } finally {
      process.env.PATH = saved;
    }
  });

  it('one exit hook, however often the package is loaded and used', () => {
    const root = path.join(__dirname, '..', '..');
    const program = `
      const before = process.listenerCount('exit');
      (async () => {
        for (let i = 0; i < 5; i++) {
          const { probeAcpReadiness } = require(${JSON.stringify(root)});
          await probeAcpReadiness({ binaryPath: '/no/such/agent', args: [], cwd: '/', env: {} });
          for (const file of Object.keys(require.cache)) if (file.includes('/lib/fusion/') || file.endsWith('/index.js')) delete require.cache[file];
        }
        console.log(process.listenerCount('exit') - before);
      })();
    `;
    assert.equal(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 60_000 }).stdout.trim(), '1');
  });
});

describe('updates', () => {
  it('calls that are open when a turn ends or is cancelled end as errors', async () => {
    const open = { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Run' } };
    const cancelled = [open, say('working'), { do: 'expect', method: 'session/cancel' }];
    for (const [during, stopReason] of [[[open], 'end_turn'], [cancelled, 'cancelled']]) {
      const ends = [];
      const runtime = adapter(turn(during, stopReason));
      const { session } = await runtime.createSession({
        cwd, systemPrompt: '', onText: () => void session.abort(), onToolEnd: (name, isError) => ends.push([name, isError]),
      });
      assert.deepEqual(await runtime.promptWithFallback(session, 'hi'), { stopReason });
      assert.deepEqual(ends, [['Run', true]], stopReason);
      await runtime.dispose(session);
    }
  });

  it('arguments and results of any size are cut to a bound', () => {
    const seen = [];
    const bridge = createEventBridge({ onToolStart: (name, args) => seen.push(args), onToolEnd: (name, isError, result) => seen.push(result) });
    const big = 'x'.repeat(1024 * 1024);
    bridge.handleSessionUpdate({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'Run', rawInput: { content: big } });
    bridge.handleSessionUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', rawOutput: big });
    assert.equal(seen.length, 2);
    for (const value of seen) assert.ok(JSON.stringify(value).length <= 256 * 1024 + 100, `${JSON.stringify(value).length}`);
  });
});

describe('files', () => {
  it('a read with a limit reaches lines that a whole read could not', async () => {
    const file = path.join(dir, 'big.txt');
    fs.writeFileSync(file, 'x'.repeat(6 * 1024 * 1024) + '\nlast line\n');
    const { readTextFile } = createFsHandlers({ cwd: dir, allowRead: true, allowWrite: false });
    assert.deepEqual(await readTextFile({ path: file, line: 2, limit: 1 }), { content: 'last line' });
  });

  it('secrets are known by their directory as well, .git in any case', () => {
    for (const name of ['/h/.ssh/config', '/h/.aws/credentials', '/h/.aws/config', '/w/.envrc', '/w/ID_RSA']) assert.ok(isSecretPath(name), name);
    for (const name of ['/w/.GIT/config', '/w/.Git/hooks/x']) assert.ok(isGitInternal(name), name);
  });

  it('no FIFO is opened', unix, async () => {
    const fifo = path.join(dir, 'fifo');
    assert.equal(spawnSync('mkfifo', [fifo]).status, 0);
    const gate = { permissionPolicy: { rules: { file_write_delete: 'allow' } } };
    const files = createFsHandlers({ cwd: dir, allowRead: true, allowWrite: true, gate, allowUnrestricted: true });
    await assert.rejects(files.readTextFile({ path: fifo }), /regular file/);
    await assert.rejects(files.writeTextFile({ path: fifo, content: 'x' }), /regular file/);
  });
});

describe('failures', () => {
  it('an agent that dies is a passing fault to the engine, with what it said last', async () => {
    const steps = turn([{ do: 'stderr', text: 'out of memory\n' }, { do: 'exit', code: 7 }]);
    const runtime = adapter(steps);
    const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
    await assert.rejects(runtime.promptWithFallback(session, 'hi'), (error) => isTransient(error.message)
      && error.message.includes('exit code 7') && error.message.includes('out of memory')
      && error.exit.exitCode === 7 && error.code === 'agent_exited');
    await runtime.dispose(session);
  });

  it('a missing login is no passing fault', async () => {
    const steps = [
      ...turn().slice(0, 3), { do: 'respond', to: 'prompt', error: { code: -32000, message: 'Authentication required' } },
    ];
    const runtime = adapter(steps);
    const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
    await assert.rejects(runtime.promptWithFallback(session, 'hi'), (error) => error.retryable === false
      && !error.message.includes('retryable'));
    await runtime.dispose(session);
  });

  it('a turn that fails after text is a failure to a host that is never rejected', async () => {
    const steps = [...turn().slice(0, 3), say('part'), { do: 'respond', to: 'prompt', error: { code: -32603, message: 'Internal error' } }];
    const runtime = adapter(steps, { acpResolveNeverReject: true, acpLabel: 'OMP' });
    const said = [];
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', onText: (text) => said.push(text) });
    assert.deepEqual(await runtime.promptWithFallback(session, 'hi'), { stopReason: 'error' });
    assert.match(session.state.errorMessage, /^OMP ACP turn failed: Internal error/);
    assert.equal(said[0], 'part');
    await runtime.dispose(session);
  });

  it('every stop reason reaches the caller', async () => {
    for (const reason of ['max_tokens', 'refusal', 'max_turn_requests']) {
      const runtime = adapter(turn([say('x')], reason));
      const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
      assert.deepEqual(await runtime.promptWithFallback(session, 'hi'), { stopReason: reason });
      await runtime.dispose(session);
    }
  });

  it('nothing waits for ever: sign-in, session, silence', async () => {
    const signIn = [{ do: 'initialize', result: { authMethods: [{ id: 'a', name: 'A' }] } }, { do: 'expect', method: 'authenticate' }];
    const runtime = adapter(signIn, { acpAuthenticate: { methodId: 'a' }, acpAuthenticateTimeoutMs: 100 });
    await assert.rejects(runtime.createSession({ cwd, systemPrompt: '' }), { code: 'timeout', phase: 'authenticate' });
    assert.equal(activeProcessCount(), 0);
    const silent = adapter(turn([say('part'), { do: 'expect', method: 'session/cancel' }]), { acpIdleTimeoutMs: 150 });
    const answer = await askAcpOnce(silent, { prompt: 'p', cwd });
    assert.deepEqual(answer, {
      ok: false, reason: 'timeout', message: 'ACP prompt timed out after 150ms without anything from the agent', text: 'part',
    });
    assert.equal(answer.error.code, 'turn_stalled');
    assert.deepEqual(Object.keys(answer).includes('error'), false);
  });

  it('an ask is bounded by the adapter’s own limit as well', async () => {
    const steps = [...turn().slice(0, 3), say('part')];
    const answer = await askAcpOnce(adapter(steps, { acpPromptTimeoutMs: 150 }), { prompt: 'p', cwd, timeoutMs: 60_000 });
    assert.deepEqual([answer.reason, answer.message], ['timeout', 'ACP prompt timed out after 150ms']);
    for (const timeoutMs of [0, Infinity]) {
      assert.equal((await askAcpOnce(adapter(turn([say('x')])), { prompt: 'p', cwd, timeoutMs })).ok, true, `${timeoutMs}`);
    }
  });

  it('a failed ask carries its error, whichever way it went', async () => {
    const notice = await askAcpOnce(adapter(turn([say('Not logged in · Please run /login')])), { prompt: 'p', cwd });
    assert.deepEqual([notice.ok, notice.reason, notice.error.code], [false, 'turn_failed', 'sign_in_required']);
    const missing = await askAcpOnce(new AcpRuntimeAdapter({ acpBinaryPath: '/no/such/agent' }), { prompt: 'p', cwd });
    assert.equal(missing.error.code, 'ENOENT');
    const cause = new Error('theirs');
    const foreign = { createSession: () => Promise.reject(cause) };
    assert.equal((await askAcpOnce(/** @type {any} */ (foreign), { prompt: 'p', cwd })).error, cause);
  });
});

describe('the engine', () => {
  it('gets a session that it may load again', async () => {
    const steps = [
      { do: 'initialize', result: { agentCapabilities: { loadSession: true } } },
      { do: 'expect', method: 'session/load', params: { sessionId: 'old', cwd, mcpServers: [] } }, { do: 'respond', result: {} },
    ];
    const open = await connection(steps);
    assert.deepEqual(await loadAcpSession(open, { sessionId: 'old', cwd }), { sessionId: 'old' });
    open.dispose();
  });

  it('has its validator’s strict prompt and its model reach the agent', async () => {
    const prompts = [];
    const runtime = {
      createSession: async (options) => {
        prompts.push(options.systemPrompt, options.defaultModelId);
        return { session: { say: options.onText, dispose() {} } };
      },
      promptWithFallback: async (session) => {
        session.say('{"verdict":"pass","summary":"fine"}');
        return { stopReason: 'end_turn' };
      },
    };
    const verdict = await runCliAgentValidation(/** @type {any} */ (runtime), { prompt: 'p', cwd, settings: { model: 'm' } });
    assert.deepEqual([verdict.status, verdict.summary], ['pass', 'fine']);
    assert.match(prompts[0], /"verdict"/);
    assert.equal(prompts[1], 'm');
    await runCliAgentValidation(/** @type {any} */ (runtime), { prompt: 'p', cwd, systemPrompt: '', settings: { acpModel: 'n' } });
    assert.deepEqual(prompts.slice(2), ['', 'n']);
  });

  it('is told a version that it does not speak, and a login that is offered, without being refused', async () => {
    const { command, args } = script([{ do: 'initialize', result: { authMethods: [{ id: 'login', name: 'Log in' }] } }]);
    const status = await probeAcpReadiness({ binaryPath: command, args, cwd, env: {} });
    assert.deepEqual([status.ok, status.reason, status.authRequired], [true, 'ok', true]);
    assert.equal(typeof settings([]).acpBinaryPath, 'string');
  });
});
