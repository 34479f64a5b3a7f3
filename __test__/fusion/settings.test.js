'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const { describe, it } = require('node:test');
const {
  CLAUDE_CODE_CLI_ACP_BINARY, buildSpawnEnv, resolveClaudeBridgeAskSettings, resolveCliSettings,
} = require('../..');
const { MissingAcpEnvError } = require('../../lib/errors.js');

describe('resolveCliSettings', () => {
  it('is conservative by default', () => {
    for (const settings of [undefined, null, {}, 'x']) {
      assert.deepEqual(resolveCliSettings(settings), {
        binaryPath: 'acp-agent', args: [], model: undefined, fsRead: false, fsWrite: false, envAllowList: [], requiredEnv: [],
        allowUnrestricted: false, binaryResolution: undefined, authenticate: undefined,
      });
    }
  });

  it('takes what is well formed', () => {
    const settings = resolveCliSettings({
      acpBinaryPath: ' gemini ', acpArgs: ['--acp'], acpModel: ' m ', acpFsRead: true, acpFsWrite: true,
      acpEnvAllowList: ['HOME'], acpAllowUnrestricted: true, requiredEnv: ['X'],
    });
    assert.deepEqual([settings.binaryPath, settings.args, settings.model], ['gemini', ['--acp'], 'm']);
    assert.deepEqual([settings.fsRead, settings.fsWrite, settings.allowUnrestricted], [true, true, true]);
    assert.deepEqual([settings.envAllowList, settings.requiredEnv], [['HOME'], []]);
  });

  it('drops what is not', () => {
    const settings = resolveCliSettings({
      acpBinaryPath: '  ', acpArgs: ['a', 7], acpModel: ' ', acpFsRead: 'yes', acpFsWrite: 1, acpAllowUnrestricted: 'true',
      acpEnvAllowList: [null],
    });
    assert.equal(settings.binaryPath, 'acp-agent');
    assert.deepEqual(settings.args, []);
    assert.deepEqual([settings.fsRead, settings.fsWrite, settings.allowUnrestricted], [false, false, false]);
    assert.deepEqual(settings.envAllowList, []);
  });

  it('reads the authentication', () => {
    const of = (acpAuthenticate) => resolveCliSettings({ acpAuthenticate }).authenticate;
    assert.deepEqual(of(true), { preferMethods: ['xai.api_key', 'cached_token'], meta: { headless: true }, require: true });
    assert.deepEqual(of({ methodId: 'm' }), { methodId: 'm', meta: { headless: true }, require: false });
    assert.deepEqual(of({ preferMethods: ['a'], meta: { x: 1 }, require: true }), { preferMethods: ['a'], meta: { x: 1 }, require: true });
    for (const value of [{}, { meta: {} }, { require: 'yes' }, false, 'x']) assert.equal(of(value), undefined);
  });

  it('changes no explicit binary', () => {
    const settings = resolveCliSettings({ acpBinaryPath: '/opt/agent' });
    assert.equal(settings.binaryPath, '/opt/agent');
    assert.equal(settings.binaryResolution, undefined);
  });
});

describe('resolveClaudeBridgeAskSettings', () => {
  it('forces the read-only profile and keeps the model', () => {
    const settings = resolveClaudeBridgeAskSettings({
      acpModel: 'm', acpBinaryPath: '/evil', acpArgs: ['x'], acpFsWrite: true, acpFsRead: true, acpAllowUnrestricted: true,
      acpEnvAllowList: ['SECRET'],
    });
    assert.equal(settings.binaryResolution?.requested, CLAUDE_CODE_CLI_ACP_BINARY);
    assert.ok(settings.binaryPath === CLAUDE_CODE_CLI_ACP_BINARY || path.isAbsolute(settings.binaryPath));
    assert.deepEqual([settings.args, settings.fsRead, settings.fsWrite, settings.allowUnrestricted], [[], false, false, false]);
    assert.deepEqual([settings.envAllowList, settings.requiredEnv, settings.model], [['HOME', 'PATH'], ['HOME'], 'm']);
  });
});

describe('buildSpawnEnv', () => {
  it('copies the allowed names, nothing else', () => {
    assert.deepEqual(buildSpawnEnv(['A', 'C'], { sourceEnv: { A: '1', B: '2', C: undefined } }), { A: '1' });
    assert.deepEqual(buildSpawnEnv([], { sourceEnv: { A: '1' } }), {});
  });

  it('demands what is required in the result, not in the source', () => {
    assert.throws(() => buildSpawnEnv(['A'], { sourceEnv: { A: '1', B: '2' }, required: ['A', 'B', 'C'] }), (error) =>
      error instanceof MissingAcpEnvError && error.code === 'ACP_MISSING_ENV'
      && error.message === 'Missing required ACP environment variable(s): B, C');
  });

  it('reads the host’s environment by default', () => {
    process.env.ACP_TEST_VALUE = 'x';
    try {
      assert.deepEqual(buildSpawnEnv(['ACP_TEST_VALUE']), { ACP_TEST_VALUE: 'x' });
    } finally {
      delete process.env.ACP_TEST_VALUE;
    }
  });
});
