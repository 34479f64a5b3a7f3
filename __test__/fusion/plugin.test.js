'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const {
  ACP_RUNTIME_ID, AcpRuntimeAdapter, CLAUDE_CODE_CLI_ACP_BINARY, acpRuntimeFactory, acpRuntimeMetadata, bundledClaudeBridgeBinPath,
  checkSetup, resolveBundledClaudeBridgeBinary, setupHooks, setupManifest, validateBundledBridgeIdentity,
} = require('../..');
const { version } = require('../../package.json');
const plugin = require('../../plugin.js');

const windows = process.platform === 'win32' && 'shims are .cmd files';

/** @type {string} */
let root;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-plugin-')));
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

/** Installs a bridge package and its shim below `root`. */
function install({ name = CLAUDE_CODE_CLI_ACP_BINARY, version = '0.1.1', target } = {}) {
  const dir = path.join(root, 'node_modules', CLAUDE_CODE_CLI_ACP_BINARY);
  fs.mkdirSync(path.join(dir, 'bin'), { recursive: true });
  fs.mkdirSync(path.join(root, 'node_modules', '.bin'));
  fs.writeFileSync(path.join(dir, 'package.json'), JSON.stringify({ name, version }));
  fs.writeFileSync(path.join(dir, 'bin', 'cli.js'), '');
  fs.symlinkSync(target ?? path.join(dir, 'bin', 'cli.js'), bundledClaudeBridgeBinPath(root));
  return bundledClaudeBridgeBinPath(root);
}

describe('the plugin object', () => {
  it('is what the loader takes', () => {
    const description = 'Drives any external ACP-compatible agent over JSON-RPC/stdio';
    assert.equal(ACP_RUNTIME_ID, 'acp');
    assert.deepEqual(acpRuntimeMetadata, { runtimeId: 'acp', name: 'ACP Runtime', description, version });
    assert.deepEqual(plugin.manifest, {
      id: 'fusion-plugin-acp-runtime', name: 'ACP Runtime Plugin', version, description, runtime: acpRuntimeMetadata,
    });
    assert.equal(plugin.state, 'installed');
    assert.equal(plugin.default, plugin);
    assert.deepEqual(plugin.runtime, { metadata: acpRuntimeMetadata, factory: acpRuntimeFactory });
    assert.deepEqual(plugin.setup, { manifest: setupManifest, hooks: setupHooks });
  });

  it('makes adapters of the settings', async () => {
    const runtime = await acpRuntimeFactory({ settings: { acpBinaryPath: '/x' } });
    assert.ok(runtime instanceof AcpRuntimeAdapter);
    assert.equal(runtime.cli.binaryPath, '/x');
  });
});

describe('onLoad', () => {
  const names = ['FUSION_CLAUDE_ACP_BRIDGE', 'FUSION_CLAUDE_ACP'];
  const saved = names.map((name) => process.env[name]);
  beforeEach(() => names.forEach((name) => delete process.env[name]));
  afterEach(() => names.forEach((name, i) => {
    if (saved[i] === undefined) delete process.env[name];
    else process.env[name] = saved[i];
  }));
  const load = (settings) => {
    const lines = [];
    plugin.hooks.onLoad({ settings, logger: { info: (text) => lines.push(['info', text]), warn: (text) => lines.push(['warn', text]) } });
    return lines;
  };

  it('says what is configured, never the arguments', () => {
    const lines = load({ acpBinaryPath: 'agent', acpArgs: ['--key', 'secret'] });
    assert.equal(lines[0][1], 'ACP Runtime Plugin loaded — binary=agent argCount=2 fsRead=false fsWrite=false');
    assert.ok(!JSON.stringify(lines).includes('secret'));
    assert.ok(!lines.some(([level]) => level === 'warn'));
    assert.ok(load({ acpAllowUnrestricted: true }).some(([level]) => level === 'warn'));
  });

  it('publishes the bundled bridge where there is one, and says so where there is none', () => {
    const lines = load({});
    const bridge = resolveBundledClaudeBridgeBinary();
    if (bridge.kind === 'resolved') assert.equal(process.env.FUSION_CLAUDE_ACP_BRIDGE, bridge.path);
    else assert.ok(lines.some(([, text]) => text.includes('FUSION_CLAUDE_ACP_BRIDGE is left unset')));
    const before = process.env.FUSION_CLAUDE_ACP_BRIDGE;
    load({});
    assert.equal(process.env.FUSION_CLAUDE_ACP_BRIDGE, before);
    assert.equal(process.env.FUSION_CLAUDE_ACP, undefined);
  });

  it('lets somebody’s own choice stand', () => {
    process.env.FUSION_CLAUDE_ACP_BRIDGE = '/custom/bridge';
    load({});
    assert.equal(process.env.FUSION_CLAUDE_ACP_BRIDGE, '/custom/bridge');
  });
});

describe('the bundled bridge', () => {
  it('is looked for in the plugin’s own node_modules', () => {
    const resolution = resolveBundledClaudeBridgeBinary({ pluginRoot: root, exists: () => false });
    assert.deepEqual(resolution, {
      kind: 'not_resolved', requested: CLAUDE_CODE_CLI_ACP_BINARY, path: bundledClaudeBridgeBinPath(root),
      reason: `Bundled claude-code-cli-acp binary was not found at ${bundledClaudeBridgeBinPath(root)}`,
    });
    assert.equal(resolveBundledClaudeBridgeBinary({ pluginRoot: 'relative', exists: () => true }).reason,
      'Bundled claude-code-cli-acp path is not absolute');
    const failing = () => {
      throw new Error('disk');
    };
    assert.equal(resolveBundledClaudeBridgeBinary({ pluginRoot: root, exists: failing }).kind, 'not_resolved');
  });

  it('is the pinned package, by real path, name and version', { skip: windows }, () => {
    const shim = install();
    assert.equal(validateBundledBridgeIdentity(shim, root), undefined);
    assert.deepEqual(resolveBundledClaudeBridgeBinary({ pluginRoot: root }), { kind: 'resolved', requested: CLAUDE_CODE_CLI_ACP_BINARY, path: shim });
  });

  it('is not another version', { skip: windows }, () => {
    const shim = install({ version: '0.2.0' });
    assert.match(validateBundledBridgeIdentity(shim, root) ?? '', /is claude-code-cli-acp@0\.2\.0, not claude-code-cli-acp@0\.1\.1/);
    assert.equal(resolveBundledClaudeBridgeBinary({ pluginRoot: root }).kind, 'not_resolved');
  });

  it('is not a link that leads out', { skip: windows }, () => {
    const shim = install({ target: process.execPath });
    assert.match(validateBundledBridgeIdentity(shim, root) ?? '', /must come from this plugin's node_modules/);
  });

  it('is not what lies elsewhere', () => {
    const plugins = '/repo/plugins/fusion-plugin-acp-runtime';
    assert.match(validateBundledBridgeIdentity('/usr/local/bin/claude-code-cli-acp', plugins) ?? '', /must come from this plugin's node_modules/);
    assert.match(validateBundledBridgeIdentity(`${plugins}/node_modules/../../x`, plugins) ?? '', /must come from/);
    assert.equal(validateBundledBridgeIdentity(`${plugins}/node_modules/claude-code-cli-acp/bin/claude-code-cli-acp.js`, plugins), undefined);
  });
});

describe('checkSetup', () => {
  const check = (status) => checkSetup({ settings: {} }, { pluginRoot: root, probe: async () => status });

  it('describes what it checks', () => {
    assert.deepEqual(setupManifest, {
      binaryName: CLAUDE_CODE_CLI_ACP_BINARY, description: "Claude Code ACP bridge used by Fusion's read-only ask path",
      channel: 'beta', defaultTimeoutMs: 30_000,
    });
  });

  it('knows that nothing is installed', async () => {
    assert.equal((await check({ ok: true, reason: 'ok' })).status, 'not-installed');
  });

  it('maps what the probe found', { skip: windows }, async () => {
    const binaryPath = install();
    assert.deepEqual(await check({ ok: true, reason: 'ok', authRequired: false }), { status: 'installed', version: '0.1.1', binaryPath });
    const missing = await check({ ok: false, reason: 'missing_binary', detail: 'ENOENT' });
    assert.equal(missing.status, 'not-installed');
    assert.match(missing.error ?? '', /Install bundled dependency/);
    for (const status of [{ ok: true, reason: 'ok', authRequired: true }, { ok: false, reason: 'unauthenticated' }]) {
      const result = await check(status);
      assert.equal(result.status, 'error');
      assert.match(result.error ?? '', /run `claude` once to authenticate/);
    }
    assert.deepEqual(await check({ ok: false, reason: 'handshake_timeout', detail: 'timed out' }), { status: 'error', binaryPath, error: 'timed out' });
    assert.equal((await check({ ok: false, reason: 'spawn_error' })).error, 'ACP readiness failed: spawn_error');
  });

  it('asks claude itself where the bridge advertises a login', { skip: windows }, async () => {
    const binaryPath = install();
    const seen = [];
    const checked = (login) => checkSetup({ settings: {} }, {
      pluginRoot: root,
      probe: async () => ({ ok: true, reason: 'ok', authRequired: true }),
      authStatus: async (options) => {
        seen.push(options);
        if (login instanceof Error) throw login;
        return login;
      },
    });
    assert.deepEqual(await checked({ loggedIn: true }), { status: 'installed', version: '0.1.1', binaryPath });
    assert.deepEqual(Object.keys(seen[0].env).sort(), ['HOME', 'PATH']);
    const out = await checked({ loggedIn: false });
    assert.equal(out.status, 'error');
    assert.match(out.error ?? '', /run `claude` once to authenticate/);
    const none = await checked({ loggedIn: undefined, missing: true });
    assert.equal(none.status, 'error');
    assert.match(none.error ?? '', /no `claude` on the PATH.*run `claude` once to authenticate/);
    const unknown = await checked({ loggedIn: undefined, detail: 'an old version' });
    assert.deepEqual(unknown, { status: 'installed', version: '0.1.1', binaryPath, error: 'the sign-in of Claude was not verified: an old version' });
    assert.deepEqual(await checked(new Error('boom')), { status: 'error', binaryPath, error: 'boom' });
  });

  it('leaves time for the answer before a loader gives up', { skip: windows }, async () => {
    install();
    const given = [];
    await checkSetup({ settings: {} }, {
      pluginRoot: root,
      probe: async ({ timeoutMs }) => {
        given.push(timeoutMs);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { ok: true, reason: 'ok', authRequired: true };
      },
      authStatus: async ({ timeoutMs }) => {
        given.push(timeoutMs);
        return { loggedIn: true };
      },
    });
    assert.ok(given[0] < given[1], 'the handshake alone cannot use the time up');
    assert.ok(given[1] <= setupManifest.defaultTimeoutMs - 50, 'what the handshake took is taken off');
  });

  it('never throws', { skip: windows }, async () => {
    install();
    const probe = async () => {
      throw new Error('no probe');
    };
    for (const context of [undefined, null, {}, { settings: null }]) {
      assert.equal((await checkSetup(context, { pluginRoot: root, probe })).status, 'error');
      assert.equal((await checkSetup(context, { pluginRoot: path.join(root, 'none') })).status, 'not-installed');
    }
    assert.equal((await checkSetup({ settings: {} }, { pluginRoot: /** @type {any} */ (7) })).status, 'error');
  });

  it('trusts no bridge but its own', { skip: windows }, async () => {
    install({ target: process.execPath });
    const result = await check({ ok: true, reason: 'ok' });
    assert.equal(result.status, 'error');
    assert.match(result.error ?? '', /must come from this plugin's node_modules/);
  });

  it('needs a home', { skip: windows }, async () => {
    install();
    const home = process.env.HOME;
    delete process.env.HOME;
    try {
      assert.deepEqual((await check({ ok: true, reason: 'ok' })).error, 'Missing required ACP environment variable(s): HOME');
    } finally {
      process.env.HOME = home;
    }
  });
});
