'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { describe, it } = require('node:test');
const { AcpRuntimeAdapter, activeProcessCount } = require('../..');
const { adapter, cwd, say, turn } = require('./agent.js');

/** Starts a session, runs one turn, disposes. */
async function oneTurn(runtime, options = {}, prompt = 'hi', promptOptions = undefined) {
  const { session } = await runtime.createSession({ cwd, systemPrompt: '', ...options });
  try {
    return { session, result: await runtime.promptWithFallback(session, prompt, promptOptions) };
  } finally {
    await runtime.dispose(session);
  }
}

const opening = (result, params) => [
  { do: 'initialize', result: { agentCapabilities: result ?? {} } },
  { do: 'session_new', sessionId: 's1', ...(params ? { params } : {}) },
];
const answering = [{ do: 'prompt_begin' }, say('ok'), { do: 'prompt_end' }];

describe('the adapter', () => {
  it('is what an engine takes for a runtime', () => {
    const runtime = new AcpRuntimeAdapter();
    assert.deepEqual([runtime.id, runtime.name], ['acp', 'ACP Runtime']);
    for (const method of ['createSession', 'promptWithFallback', 'describeModel', 'dispose']) assert.equal(typeof runtime[method], 'function');
    assert.equal(runtime.describeModel({}), 'acp');
  });

  it('streams a turn to subscribers first, then to the callbacks', async () => {
    const seen = [];
    const during = [
      say('Hi'),
      { do: 'text', text: 'hm', kind: 'agent_thought_chunk' },
      { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Run', kind: 'execute', rawInput: { a: 1 } } },
      { do: 'update', update: { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', rawOutput: 'out' } },
    ];
    const runtime = adapter(turn(during), { acpModel: 'm' });
    const { session } = await runtime.createSession({
      cwd, systemPrompt: '',
      onText: (text) => seen.push(['text', text]),
      onThinking: (text) => seen.push(['thinking', text]),
      onToolStart: (name, args) => seen.push(['start', name, args]),
      onToolEnd: (name, isError, result) => seen.push(['end', name, isError, result]),
    });
    assert.deepEqual([session.sessionId, session.cwd, session.model], ['s1', cwd, 'm']);
    assert.equal(runtime.describeModel(session), 'acp/m');
    session.subscribe((event) => seen.push(event));
    session.subscribe(() => {
      throw new Error('ignored');
    });
    session.subscribe(() => seen.push('never'))();
    assert.deepEqual(await session.prompt('hi'), { stopReason: 'end_turn' });
    assert.deepEqual(seen, [
      { type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'Hi' } },
      ['text', 'Hi'],
      { type: 'message_update', assistantMessageEvent: { type: 'thinking_delta', contentIndex: 1, delta: 'hm' } },
      ['thinking', 'hm'],
      { type: 'tool_execution_start', toolName: 'Run', args: { a: 1 } },
      ['start', 'Run', { a: 1 }],
      { type: 'tool_execution_end', toolName: 'Run', isError: false, result: 'out' },
      ['end', 'Run', false, 'out'],
    ]);
    assert.deepEqual(session.state.messages.map(({ role, content }) => [role, content[0].text]), [['user', 'hi'], ['assistant', 'Hi']]);
    session.dispose();
    session.dispose();
    assert.equal(activeProcessCount(), 0);
    await session.disposePromise;
  });

  it('refuses a prompt on a session that was never made', async () => {
    await assert.rejects(new AcpRuntimeAdapter().promptWithFallback({ state: {} }, 'x'),
      { message: 'ACP session has no live connection (createSession not completed)' });
  });

  it('leaves nothing behind when the session cannot be made', async () => {
    const steps = [{ do: 'initialize' }, { do: 'expect', method: 'session/new' }, { do: 'respond', error: { code: -32602, message: 'Invalid params' } }];
    await assert.rejects(adapter(steps).createSession({ cwd, systemPrompt: '' }), /Invalid params/);
    assert.equal(activeProcessCount(), 0);
  });

  it('bounds session/new', async () => {
    const steps = [{ do: 'initialize' }, { do: 'expect', method: 'session/new' }];
    await assert.rejects(adapter(steps, { acpSessionTimeoutMs: 100 }).createSession({ cwd, systemPrompt: '' }), { code: 'timeout' });
  });

  it('ends the tool calls that a dying agent leaves open, and reports the death', async () => {
    const ends = [];
    const during = [
      say('part'),
      { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Run' } },
      { do: 'stderr', text: 'fatal: gone\n' }, { do: 'exit', code: 4 },
    ];
    const runtime = adapter(turn(during));
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', onToolEnd: (name, isError) => ends.push([name, isError]) });
    await assert.rejects(runtime.promptWithFallback(session, 'hi'), (error) => /\bACP turn failed\b/.test(error.message)
      && error.message.includes('fatal: gone') && error.partialText === 'part');
    assert.deepEqual(ends, [['Run', true]]);
    assert.match(session.state.errorMessage, /ACP turn failed/);
    await runtime.dispose(session);
  });
});

describe('what reaches the agent', () => {
  it('is the system prompt, in the field that it advertises', async () => {
    const params = { systemPrompt: { mode: 'override', content: [{ type: 'text', text: 'Be brief.' }] }, _meta: { $absent: true } };
    const capabilities = { sessionCapabilities: { systemPrompt: { mode: { override: {} } } } };
    const { result } = await oneTurn(adapter([...opening(capabilities, params), ...answering]), { systemPrompt: 'Be brief.' });
    assert.deepEqual(result, { stopReason: 'end_turn' });
  });

  it('is the system prompt, as the first block of the first prompt only', async () => {
    const prompt = (blocks) => [{ do: 'prompt_begin', params: { prompt: { $exact: blocks } } }, { do: 'prompt_end' }];
    const text = (value) => ({ type: 'text', text: value });
    const runtime = adapter([...opening(), ...prompt([text('Be brief.'), text('one')]), ...prompt([text('two')])]);
    const { session } = await runtime.createSession({ cwd, systemPrompt: 'Be brief.' });
    await runtime.promptWithFallback(session, 'one');
    assert.deepEqual(await runtime.promptWithFallback(session, 'two'), { stopReason: 'end_turn' });
    await runtime.dispose(session);
  });

  it('is the system prompt under a key of _meta, beside the caller’s', async () => {
    const params = { _meta: { $exact: { mine: 1, systemPromptOverride: 'Be brief.' } } };
    const runtime = adapter([...opening({}, params), ...answering], { acpSystemPromptVia: 'meta' });
    await oneTurn(runtime, { systemPrompt: 'Be brief.', sessionMeta: { mine: 1 } });
  });

  it('are the engine’s MCP servers in the protocol’s shape, as far as it takes them', async () => {
    const params = { mcpServers: { $exact: [{ name: 'a', command: 'x', args: [], env: [{ name: 'K', value: 'v' }] }] } };
    const { session } = await oneTurn(adapter([...opening({}, params), ...answering]), {
      mcpServers: [{ name: 'a', transport: 'stdio', command: 'x', env: { K: 'v' } }, { name: 'b', transport: 'http', url: 'https://b' }],
    });
    assert.deepEqual(session.notices, ['MCP server b was left out: the agent does not take its transport']);
  });

  it('are images only where it takes them', async () => {
    const images = [{ data: 'QUFB', mimeType: 'image/png' }];
    const prompt = (length) => [{ do: 'prompt_begin', params: { prompt: { $length: length } } }, { do: 'prompt_end' }];
    await oneTurn(adapter([...opening({ promptCapabilities: { image: true } }), ...prompt(2)]), {}, 'look', { images });
    const { session } = await oneTurn(adapter([...opening(), ...prompt(1)]), {}, 'look', { images });
    assert.match(session.notices[0], /1 image/);
  });

  it('are the model and the thinking level, through what it offers', async () => {
    const option = (id, category, values) => ({
      id, name: id, category, type: 'select', currentValue: values[0], options: values.map((value) => ({ value, name: value })),
    });
    const steps = [
      { do: 'initialize' },
      { do: 'session_new', result: { configOptions: [option('m', 'model', ['x/small', 'x/big']), option('t', 'thought_level', ['low', 'high'])] } },
      { do: 'expect', method: 'session/set_config_option', params: { configId: 'm', value: 'x/big' } }, { do: 'respond', result: { configOptions: [] } },
      ...answering,
    ];
    const { session } = await oneTurn(adapter(steps), { defaultModelId: 'big', defaultThinkingLevel: 'high' });
    // The agent's answer took the second option back.
    assert.deepEqual(session.notices, ['thinking level high is not offered by the agent']);
  });

  it('is the environment that is allowed, the task’s values first', async () => {
    const names = [{ do: 'check', value: '{{env_names|json}}', matches: { $contains: 'TASK_VALUE' } },
      { do: 'check', value: '{{env_names|json}}', matches: { $not: { $contains: 'TASK_SECRET' } } }];
    const runtime = adapter([...names, ...opening(), ...answering], { acpEnvAllowList: ['TASK_VALUE'] });
    await oneTurn(runtime, { taskEnv: { TASK_VALUE: '1', TASK_SECRET: '2' } });
  });

  it('waits for the engine’s word', async () => {
    const order = [];
    const runtime = adapter([...opening(), ...answering]);
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', beforeSpawnSession: async () => order.push(activeProcessCount()) });
    assert.deepEqual(order, [0]);
    await runtime.dispose(session);
    const refused = runtime.createSession({ cwd, systemPrompt: '', beforeSpawnSession: () => Promise.reject(new Error('not now')) });
    await assert.rejects(refused, { message: 'not now' });
    assert.equal(activeProcessCount(), 0);
  });
});

describe('the floor', () => {
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }];
  const asking = (kind, optionId) => turn([
    { do: 'permission', toolCall: { toolCallId: 't', kind, title: 'x' }, options },
    { do: 'expect_response', to: 'permission', result: { outcome: { outcome: 'selected', optionId } } },
  ]);

  it('denies without a gate, asks with one, and lets no read-only session change anything', async () => {
    await oneTurn(adapter(asking('read', 'no')));
    const gate = { permissionPolicy: { rules: { command_execution: 'allow' } } };
    await oneTurn(adapter(asking('execute', 'no')), { actionGateContext: gate });
    await oneTurn(adapter(asking('execute', 'yes'), { acpAllowUnrestricted: true }), { actionGateContext: gate });
    await oneTurn(adapter(asking('execute', 'no'), { acpAllowUnrestricted: true }), { actionGateContext: gate, tools: 'readonly' });
    await oneTurn(adapter(asking('read', 'yes')), { actionGateContext: gate, tools: 'readonly' });
  });

  it('holds for writes', async (t) => {
    const dir = fs.mkdtempSync(path.join(cwd, 'acp-adapter-'));
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    const target = path.join(fs.realpathSync(dir), 'a.txt');
    const writing = (outcome) => turn([
      { do: 'request', method: 'fs/write_text_file', params: { sessionId: 's1', path: target, content: 'new' }, as: 'write' },
      { do: 'expect_response', to: 'write', ...outcome },
    ]);
    const on = { acpFsWrite: true, acpAllowUnrestricted: true };
    const gate = { permissionPolicy: { rules: { file_write_delete: 'allow' } } };
    await oneTurn(adapter(writing({ error: { code: -32602 } }), on), { cwd: dir });
    assert.ok(!fs.existsSync(target));
    await oneTurn(adapter(writing({ result: {} }), on), { cwd: dir, actionGateContext: gate });
    assert.equal(fs.readFileSync(target, 'utf8'), 'new');
  });
});

describe('a turn', () => {
  const cancellable = [
    { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, say('working'),
    { do: 'expect', method: 'session/cancel' }, { do: 'prompt_end', stopReason: 'cancelled' },
  ];

  it('is aborted', async () => {
    const runtime = adapter(cancellable);
    let aborted;
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', onText: () => {
      aborted = session.abort();
    } });
    assert.deepEqual(await runtime.promptWithFallback(session, 'hi'), { stopReason: 'cancelled' });
    await aborted;
    await runtime.dispose(session);
  });

  it('takes no message in between', async () => {
    const runtime = adapter(turn());
    const { session } = await runtime.createSession({ cwd, systemPrompt: '' });
    await assert.rejects(session.steer('also'), { code: 'unsupported_capability' });
    await runtime.dispose(session);
    await session.abort();
  });

  it('reports its usage', async () => {
    const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7, cachedReadTokens: null };
    const steps = [...opening(), { do: 'prompt_begin' }, { do: 'prompt_end', result: { usage } }];
    const { session } = await oneTurn(adapter(steps));
    assert.deepEqual(session.usage, { inputTokens: 3, outputTokens: 4, totalTokens: 7 });
  });

  it('that stands still is given up', async () => {
    const steps = [...opening(), { do: 'prompt_begin' }];
    const runtime = adapter(steps, { acpIdleTimeoutMs: 100 });
    await assert.rejects(oneTurn(runtime), (error) => error.code === 'turn_stalled' && /\bACP turn failed\b/.test(error.message));
  });
});

describe('a host that is never rejected', () => {
  it('gets a dead session that says why', async () => {
    const said = [];
    const runtime = new AcpRuntimeAdapter({ acpBinaryPath: '/no/such/agent', acpResolveNeverReject: true, acpLabel: 'Grok' });
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', onText: (text) => said.push(text) });
    assert.match(said[0], /^Grok ACP failed to start: spawn \/no\/such\/agent ENOENT/);
    assert.equal(session.state.errorMessage, said[0]);
    assert.equal(session.state.messages[0].content[0].text, said[0]);
    assert.deepEqual(await runtime.promptWithFallback(session, 'x'), { stopReason: 'error' });
    assert.match(said[1], /^Grok ACP session has no live connection/);
    await runtime.dispose(session);
  });

  it('gets a failed turn as text and state', async () => {
    const steps = [...opening(), { do: 'prompt_begin' }, { do: 'respond', to: 'prompt', error: { code: -32603, message: 'Internal error' } }];
    const { session, result } = await oneTurn(adapter(steps, { acpResolveNeverReject: true }));
    assert.deepEqual(result, { stopReason: 'error' });
    assert.equal(session.state.errorMessage, 'ACP ACP turn failed: Internal error (acp rpc code -32603, retryable)');
  });

  it('learns why there is no text', async () => {
    const steps = [...opening(), { do: 'prompt_begin' }, { do: 'prompt_end', stopReason: 'refusal' }];
    const { session, result } = await oneTurn(adapter(steps, { acpResolveNeverReject: true, acpLabel: 'OMP' }));
    assert.deepEqual(result, { stopReason: 'refusal' });
    assert.equal(session.state.errorMessage, 'OMP ACP ended with stopReason refusal and produced no assistant text.');
  });
});

describe('the tools of the engine', () => {
  it('are offered as an MCP server that ends with the session', async () => {
    const params = { mcpServers: [{ name: 'fusion-custom-tools', command: process.execPath }] };
    const runtime = adapter([...opening({}, params), ...answering]);
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', customTools: [{ name: 'fn_x', execute: async () => 'ok' }] });
    assert.equal(typeof session.disposeBridge, 'function');
    assert.equal(session.fusionToolBridgeError, undefined);
    await runtime.dispose(session);
  });
});

describe('the sentinel', () => {
  it('never starts somebody else’s bridge', async () => {
    const runtime = new AcpRuntimeAdapter({ acpBinaryPath: 'claude-code-cli-acp' });
    runtime.cli.binaryResolution = { kind: 'not_resolved', requested: 'claude-code-cli-acp', reason: 'not here' };
    await assert.rejects(runtime.createSession({ cwd, systemPrompt: '' }), { code: 'missing_binary', message: 'not here' });
  });
});
