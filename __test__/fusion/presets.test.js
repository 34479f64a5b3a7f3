'use strict';

// What is known of particular agents: each row of the plugins that carry a copy of their own, and how settings overrule it.

const assert = require('node:assert/strict');
const os = require('node:os');
const path = require('node:path');
const { describe, it } = require('node:test');
const { AcpRuntimeAdapter, resolveCliSettings } = require('../..');
const {
  agentModel, buildArgv, orderMethods, PRESETS, resolveRuntimeSettings, withPreset,
} = require('../../lib/fusion/presets.js');
const { cwd, say, settings } = require('./agent.js');

const BASE = [
  'HOME', 'PATH', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TERMINFO', 'TMPDIR', 'COLORTERM',
  'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME',
];
const of = (acpPreset, more = {}) => resolveCliSettings(withPreset({ acpPreset, ...more }));
const answering = [{ do: 'prompt_begin' }, say('ok'), { do: 'prompt_end' }];

/** A session of a preset with a scripted agent in place of its own. */
async function session(acpPreset, steps, options = {}, more = {}) {
  const runtime = new AcpRuntimeAdapter({ acpPreset, ...settings(steps), acpEnvAllowList: [], ...more });
  const { session: opened } = await runtime.createSession({ cwd, systemPrompt: '', ...options });
  try {
    assert.deepEqual(await runtime.promptWithFallback(opened, 'hi'), { stopReason: 'end_turn' });
    return { opened, runtime };
  } finally {
    await runtime.dispose(opened);
  }
}

describe('presets', () => {
  it('are overruled by the settings', () => {
    const settings = resolveCliSettings(withPreset({ acpPreset: 'grok', acpBinaryPath: '/my/grok' }));
    assert.equal(settings.binaryPath, '/my/grok');
    assert.ok(settings.envAllowList.includes('XAI_API_KEY'));
    assert.equal(resolveCliSettings(withPreset({ acpPreset: 'constructor' })).binaryPath, 'acp-agent');
  });

  it('allow nothing that the settings do not', () => {
    for (const acpPreset of Object.keys(PRESETS)) {
      const settings = resolveCliSettings(withPreset({ acpPreset }));
      assert.deepEqual([settings.fsRead, settings.fsWrite, settings.allowUnrestricted], [false, false, false]);
    }
  });

  it('build the command line of each agent', () => {
    assert.deepEqual(buildArgv(PRESETS.grok, { model: 'g-4', pluginDirs: ['/a', '/b'] }),
      ['agent', '--plugin-dir', '/a', '--plugin-dir', '/b', '-m', 'g-4', 'stdio']);
    assert.deepEqual(buildArgv(PRESETS.grok, {}), ['agent', 'stdio']);
    assert.deepEqual(buildArgv(PRESETS.omp, { model: 'x/y' }), ['--model', 'x/y', 'acp']);
    assert.deepEqual(buildArgv(PRESETS.claude, { model: 'm' }), []);
  });

  it('know the agent’s own name of a model', () => {
    assert.equal(agentModel(PRESETS.grok, 'grok-cli/g-4'), 'g-4');
    assert.equal(agentModel(PRESETS.claude, 'claude/opus'), 'opus');
    assert.equal(agentModel(PRESETS.omp, 'omp/anthropic/opus'), 'anthropic/opus');
    for (const model of [undefined, 'default', 'grok/default', '']) assert.equal(agentModel(PRESETS.grok, model), undefined);
  });

  it('have limits that a setting replaces and nonsense does not', () => {
    const { timeouts } = resolveRuntimeSettings({ acpPromptTimeoutMs: 5, acpIdleTimeoutMs: 0, acpSessionTimeoutMs: -1 });
    assert.equal(timeouts.prompt, 5);
    assert.equal(timeouts.idle, 0);
    assert.equal(timeouts.session, 120_000);
    assert.equal(resolveRuntimeSettings({ acpSystemPromptVia: 'nonsense' }).systemPromptVia, 'auto');
  });
});

describe('the preset grok', () => {
  it('hands on 22 names', () => {
    assert.deepEqual(of('grok').envAllowList, [
      ...BASE, 'XAI_API_KEY', 'GROK_API_KEY', 'GROK_OIDC_ISSUER', 'GROK_OIDC_CLIENT_ID', 'GROK_CLI_CHAT_PROXY_BASE_URL',
      'XAI_API_BASE_URL',
    ]);
  });

  it('signs in with the key where there is one, else with what is cached', () => {
    assert.deepEqual(of('grok').authenticate, { preferMethods: ['xai.api_key', 'cached_token'], meta: { headless: true }, require: false });
    const order = (env) => orderMethods(PRESETS.grok, ['xai.api_key', 'cached_token'], env);
    assert.deepEqual(order({ XAI_API_KEY: 'k' }), ['xai.api_key', 'cached_token']);
    assert.deepEqual(order({ GROK_API_KEY: 'k' }), ['xai.api_key', 'cached_token']);
    for (const env of [{}, { XAI_API_KEY: ' ' }]) assert.deepEqual(order(env), ['cached_token', 'xai.api_key']);
    const methods = { authMethods: [{ id: 'xai.api_key', name: 'K' }, { id: 'cached_token', name: 'C' }] };
    const steps = (methodId) => [
      { do: 'initialize', result: methods },
      { do: 'expect', method: 'authenticate', params: { methodId, _meta: { headless: true } } }, { do: 'respond', result: {} },
      { do: 'session_new', sessionId: 's1' }, ...answering,
    ];
    const taskEnv = { XAI_API_KEY: 'k', GROK_API_KEY: undefined };
    return Promise.all([
      session('grok', steps('xai.api_key'), { taskEnv }, { acpEnvAllowList: ['XAI_API_KEY'] }),
      session('grok', steps('cached_token'), { taskEnv }),
      // A setting of one's own stands as it is.
      session('grok', steps('xai.api_key'), {}, { acpAuthenticate: { preferMethods: ['xai.api_key', 'cached_token'] } }),
    ]);
  });

  it('gives plugin directories on the command line and in _meta, the system prompt in _meta', async () => {
    assert.deepEqual(buildArgv(PRESETS.grok, { model: 'g-4', pluginDirs: ['/a', '/b'] }),
      ['agent', '--plugin-dir', '/a', '--plugin-dir', '/b', '-m', 'g-4', 'stdio']);
    const _meta = { $exact: { pluginDirs: ['/a'], systemPromptOverride: 'Be brief.', rules: 'r' } };
    const steps = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1', params: { _meta } }, ...answering];
    await session('grok', steps, { systemPrompt: 'Be brief.', sessionMeta: { rules: 'r' } }, { acpPluginDirs: ['/a', '  '] });
  });

  it('is called grok', async () => {
    const steps = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1' }, ...answering];
    const { opened, runtime } = await session('grok', steps, { defaultModelId: 'grok-cli/g-4' });
    assert.deepEqual([runtime.id, runtime.name, opened.model, runtime.describeModel(opened)], ['grok', 'Grok Runtime', 'g-4', 'grok/g-4']);
    const plain = await session('grok', steps, { defaultModelId: 'grok/default' });
    assert.equal(plain.runtime.describeModel(plain.opened), 'grok/default');
  });
});

describe('the preset omp', () => {
  it('hands on 30 names, the keys of providers among them', () => {
    assert.deepEqual(of('omp').envAllowList, [
      ...BASE, 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GOOGLE_API_KEY', 'GEMINI_API_KEY', 'XAI_API_KEY',
      'GROK_API_KEY', 'ZAI_API_KEY', 'Z_AI_API_KEY', 'GLM_API_KEY', 'MINIMAX_API_KEY', 'MINIMAX_GROUP_ID', 'KIMI_API_KEY',
      'MOONSHOT_API_KEY',
    ]);
  });

  it('signs in as the agent does', () => {
    assert.deepEqual(of('omp').authenticate, { preferMethods: ['agent', 'terminal'], meta: { headless: true }, require: false });
    assert.deepEqual(orderMethods(PRESETS.omp, ['agent', 'terminal'], {}), ['agent', 'terminal']);
  });

  it('leaves out MCP servers whose program does not exist, and tells how many tools there are', async () => {
    const missing = path.join(os.tmpdir(), 'no-such-program');
    const params = {
      _meta: { $exact: { fusionToolCount: 1, systemPromptOverride: 'Be brief.' } },
    };
    const steps = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1', params }, ...answering];
    const { opened } = await session('omp', steps, {
      systemPrompt: 'Be brief.',
      mcpServers: [
        { name: 'gone', transport: 'stdio', command: missing },
        { name: 'here', transport: 'stdio', command: process.execPath },
        { name: 'named', transport: 'stdio', command: 'some-program' },
      ],
      customTools: [{ name: 'fn_x', execute: async () => 'x' }],
    });
    assert.deepEqual(opened.notices, [`MCP server gone was left out: there is no ${missing}`]);
  });

  it('keeps the provider in the name of a model', () => {
    assert.equal(agentModel(PRESETS.omp, 'omp-cli/minimax-code/MiniMax-M2.5'), 'minimax-code/MiniMax-M2.5');
    assert.equal(agentModel(PRESETS.omp, 'omp/ glm-5.2'), 'glm-5.2');
  });
});

describe('the preset claude', () => {
  it('hands on 10 names and no key', () => {
    assert.deepEqual(of('claude').envAllowList, [
      'HOME', 'PATH', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME',
    ]);
    assert.deepEqual([of('claude').authenticate, of('claude').args], [undefined, []]);
  });

  it('puts the system prompt before the first prompt: the bridge reads none from _meta', async () => {
    const blocks = [{ type: 'text', text: 'Be brief.' }, { type: 'text', text: 'hi' }];
    const steps = [
      { do: 'initialize' }, { do: 'session_new', sessionId: 's1', params: { _meta: { $exact: { pluginDirs: ['/a'] } } } },
      { do: 'prompt_begin', params: { prompt: { $exact: blocks } } }, { do: 'prompt_end' },
    ];
    await session('claude', steps, { systemPrompt: 'Be brief.' }, { acpPluginDirs: ['/a'] });
  });

  it('gives a silent turn five minutes, and says what may be the matter', async () => {
    const idle = (given) => resolveRuntimeSettings(given).timeouts.idle;
    assert.equal(idle({ acpPreset: 'claude' }), 300_000);
    assert.equal(idle({ acpBinaryPath: 'claude-code-cli-acp' }), 300_000);
    assert.equal(idle({ acpBinaryPath: '/x/node_modules/.bin/claude-code-cli-acp' }), 300_000);
    assert.equal(idle({ acpPreset: 'claude', acpIdleTimeoutMs: 9 }), 9);
    for (const given of [{}, { acpPreset: 'grok' }, { acpBinaryPath: 'claude' }]) assert.equal(idle(given), 1_800_000);
    const steps = [{ do: 'initialize' }, { do: 'session_new', sessionId: 's1' }, { do: 'prompt_begin' }, { do: 'expect', method: 'session/cancel' }];
    const runtime = new AcpRuntimeAdapter({ acpPreset: 'claude', ...settings(steps), acpEnvAllowList: [], acpIdleTimeoutMs: 200 });
    const { session: opened } = await runtime.createSession({ cwd, systemPrompt: '' });
    await assert.rejects(runtime.promptWithFallback(opened, 'a prompt'), (error) => error.code === 'turn_stalled'
      && /^ACP turn failed: .*200 ms.*\(claude-code-cli-acp 0\.1\.1 may leave prompts/.test(error.message));
    await runtime.dispose(opened);
  });
});

describe('a preset that never rejects', () => {
  it('says what to look at when its agent does not start', async () => {
    for (const [acpPreset, start] of [['grok', 'Grok'], ['omp', 'OMP'], ['claude', 'Claude'], ['generic', 'ACP']]) {
      const runtime = new AcpRuntimeAdapter({ acpPreset, acpBinaryPath: '/no/such/agent', acpArgs: ['x'], acpResolveNeverReject: true });
      const said = [];
      const { session: dead } = await runtime.createSession({ cwd, systemPrompt: '', onText: (text) => said.push(text) });
      assert.ok(said[0].startsWith(`${start} ACP failed to start: spawn /no/such/agent ENOENT`), said[0]);
      assert.equal(said[0].includes('('), acpPreset !== 'generic');
      assert.equal(dead.state.errorMessage, said[0]);
      assert.deepEqual(await runtime.promptWithFallback(dead, 'hi'), { stopReason: 'error' });
      assert.match(said[1], new RegExp(`^${start} ACP session has no live connection`));
    }
  });

  it('says what the agent said of its refusal', async () => {
    const steps = [
      { do: 'initialize' }, { do: 'expect', method: 'session/new' },
      { do: 'respond', error: { code: -32603, message: 'Internal error', data: { details: 'No API key found for x' } } },
    ];
    const runtime = new AcpRuntimeAdapter({ acpPreset: 'omp', ...settings(steps), acpEnvAllowList: [], acpResolveNeverReject: true });
    const { session: dead } = await runtime.createSession({ cwd, systemPrompt: '' });
    assert.match(dead.state.errorMessage, /^OMP ACP failed to start: Internal error \(acp rpc code -32603, retryable\) .*No API key found for x/);
  });
});
