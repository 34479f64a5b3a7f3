'use strict';

// The checks of the interop kit, against an agent that misbehaves on demand: a check that cannot fail proves nothing.

const assert = require('node:assert/strict');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');

const { CHECKS } = require('../../interop/checks');
const { runCase } = require('../../interop/lib/case.js');
const { canScan } = require('../../interop/lib/processes.js');
const { loadTable } = require('../../interop/lib/table.js');
const { FakeModel } = require('../../interop/model/server.js');
const { agentRow } = require('./agent-row.js');

const STAND_IN = path.join(__dirname, 'stand-in.js');
const client = { api: require(STAND_IN), path: STAND_IN };
const ROOT = path.join(__dirname, '..', '..');
const own = { api: require('../..'), path: ROOT };
const unixOnly = { skip: process.platform === 'win32' && 'the kit runs agents with a Unix shell' };

/** @param {...string} faults */
const row = (...faults) => agentRow('model-agent', faults);

describe('the interop checks', unixOnly, () => {
  const model = new FakeModel();
  before(() => model.listen());
  after(() => model.close());

  /**
   * @param {string} id
   * @param {...string} faults
   */
  async function check(id, ...faults) {
    const found = CHECKS.find((each) => each.id === id);
    assert.ok(found, `there is a check ${id}`);
    const result = await runCase(found, row(...faults), client, model);
    assert.deepEqual(model.faults, []);
    return result;
  }

  for (const id of [
    'ask',
    'probe',
    'long-prompt',
    'streaming',
    'deny-shell',
    'allow-shell',
    'deny-write',
    'allow-write',
    'cancel-stream',
    'cancel-tool',
    'close-tool',
    'kill-tool',
  ]) {
    test(`${id} is ok with an agent that behaves`, async () => {
      const { status, note, survivors } = await check(id);
      assert.deepEqual({ status, note: status === 'ok' ? '' : note }, { status: 'ok', note: '' });
      if (canScan) assert.deepEqual(survivors?.staying, []);
    });
  }

  test('an agent that executes what was denied fails', async () => {
    const { status, note } = await check('deny-shell', 'runs-anyway');
    assert.deepEqual([status, note], ['fail', 'executed although denied']);
  });

  test('an agent that never asks is told apart', async () => {
    const { status, note } = await check('deny-write', 'never-asks');
    assert.deepEqual([status, note], ['n/a', 'executes without asking']);
  });

  test('an agent that says everything at the end does not stream', async () => {
    assert.equal((await check('streaming', 'holds-text')).status, 'fail');
  });

  test('an agent that ignores a cancel fails', async () => {
    model.slowPieces = 20;
    assert.equal((await check('cancel-stream', 'ignores-cancel')).status, 'fail');
  });

  test(
    'a tool that outlives the agent is found, told, and then ended',
    { skip: !canScan && 'needs /proc' },
    async () => {
      const { status, survivors } = await check('close-tool', 'leaves-tool');
      assert.equal(status, 'fail');
      assert.ok(survivors);
      assert.ok(survivors.staying.length > 0);
      assert.match(survivors.staying.join('\n'), /command line|environment/);
      const again = await check('probe');
      assert.deepEqual(again.survivors?.staying, []);
    },
  );

  test('an agent that cannot be started fails every check', async () => {
    const missing = { ...row(), command: ['/nonexistent/agent'] };
    for (const found of CHECKS.filter(({ id }) => ['ask', 'probe', 'close-tool'].includes(id))) {
      assert.equal((await runCase(found, missing, client, model)).status, 'fail', found.id);
    }
  });

  /**
   * A check that needs the whole package.
   *
   * @param {string} id
   * @param {...string} faults
   */
  async function engineCheck(id, ...faults) {
    const found = CHECKS.find((each) => each.id === id);
    assert.ok(found, `there is a check ${id}`);
    const result = await runCase(found, { ...row(...faults), idleMs: 2_000 }, own, model);
    if (canScan) assert.deepEqual(result.survivors?.staying, []);
    return result;
  }

  for (const id of ['ask-once', 'plugin-host', 'validate', 'long-ask']) {
    test(`${id} is ok with an agent that behaves`, async () => {
      const { status, note } = await engineCheck(id);
      assert.deepEqual({ status, note }, { status: 'ok', note: '' });
    });
  }

  test('the checks of the Claude bridge are for the row that has it', () => {
    const bridge = loadTable().find(({ id }) => id === 'claude-code-cli-acp');
    for (const found of CHECKS.filter(({ id }) => ['setup', 'ask-profile'].includes(id))) {
      assert.deepEqual([found.fits?.(row()), bridge && found.fits?.(bridge)], [false, true], found.id);
    }
  });

  test('an agent that dies in its second turn fails the plugin host', async () => {
    const { status, note } = await engineCheck('plugin-host', 'dies-later');
    assert.equal(status, 'fail');
    assert.match(note, /exit code 3|the host ended/);
  });

  test('an agent that passes everything fails the validator', async () => {
    assert.match((await engineCheck('validate', 'always-passes')).note, /prose was taken for pass/);
  });

  test('an agent that leaves a long prompt unanswered is told, as a typed timeout', async () => {
    const { status, note, facts } = await engineCheck('long-ask', 'mute-when-long');
    assert.equal(status, 'ok', note);
    assert.match(note, /^not answered: ACP prompt timed out after \d+ms without anything from the agent/);
    assert.equal(/** @type {any} */ (facts).code, 'turn_stalled');
  });
});
