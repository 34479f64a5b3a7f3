'use strict';

// The checks of what an agent may offer, with this package, against one that offers everything and can do it wrong.

const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');

const { CHECKS } = require('../../interop/checks');
const { runCase, spread } = require('../../interop/lib/case.js');
const { loadClient } = require('../../interop/lib/driver.js');
const { FakeModel } = require('../../interop/model/server.js');
const { agentRow } = require('./agent-row.js');

const client = loadClient();
/** Nothing here does anything in its own time, but for the MCP server. */
const waits = { list: 10, settle: 0, connect: 2_000 };
const unixOnly = { skip: process.platform === 'win32' && 'the kit runs agents with a Unix shell' };

/** @param {...string} faults */
const row = (...faults) => agentRow('offering-agent', faults);

describe('the checks of what is offered', unixOnly, () => {
  const model = new FakeModel();
  before(() => model.listen());
  after(() => model.close());

  /**
   * @param {string} id
   * @param {...string} faults
   * @returns {Promise<Record<string, [string, string]>>} status and note of each column
   */
  async function check(id, ...faults) {
    const found = CHECKS.find((each) => each.id === id);
    assert.ok(found, `there is a check ${id}`);
    const columns = spread(found, await runCase(found, row(...faults), client, model, waits));
    assert.deepEqual(model.faults, []);
    for (const [, { survivors }] of columns) assert.deepEqual(survivors?.staying ?? [], []);
    return Object.fromEntries(columns.map(([column, { status, note }]) => [column, [status, note]]));
  }

  test('an agent that offers everything passes everything', async () => {
    assert.deepEqual(await check('sessions'), {
      list: ['ok', ''],
      close: ['ok', ''],
      load: ['ok', '1 updates replayed'],
      fork: ['ok', ''],
      resume: ['ok', ''],
      delete: ['ok', ''],
    });
    assert.deepEqual(await check('settings'), {
      modes: ['ok', '2 modes'],
      config: ['ok', '`loud` from `false` to `true`'],
      thinking: ['ok', '`level` from `low` to `high`'],
      model: ['ok', 'the model is asked for gpt-5 instead of fake-model'],
      providers: ['ok', '1 listed; with `fake` the model asked for is gpt-5'],
    });
    assert.deepEqual(await check('image'), { image: ['ok', ''] });
    assert.deepEqual(await check('mcp'), { mcp: ['ok', 'its tool was called'] });
  });

  test('what is not offered is refused here, and told apart from a failure', async () => {
    for (const id of ['sessions', 'settings', 'image']) {
      const columns = await check(id, 'bare');
      const statuses = new Set(Object.values(columns).map(([status]) => status));
      assert.deepEqual([...statuses], ['not offered'], JSON.stringify(columns));
    }
  });

  /** @type {[string, string[], Record<string, RegExp>][]} */
  const failures = [
    ['sessions', ['hides-session', 'loses-sessions', 'forks-itself', 'silent-resume'], {
      list: /not among the 0 listed/,
      load: /no such session/,
      fork: /no id of its own|already/,
      resume: /the answer was ""/,
    }],
    ['sessions', ['keeps-deleted'], { delete: /still in the list/ }],
    ['settings', ['keeps-option'], {
      thinking: /from `low` to `high`: it is low/,
      model: /fake-model instead of gpt-5/,
    }],
    ['image', ['drops-image'], { image: /did not reach the model/ }],
    ['mcp', ['ignores-mcp'], { mcp: /never started/ }],
    ['mcp', ['hides-mcp'], { mcp: /asked for its tools, the model offered none/ }],
  ];
  for (const [id, faults, problems] of failures) {
    test(`an agent that ${faults.join(', ')} fails ${Object.keys(problems).join(', ')}`, async () => {
      const columns = await check(id, ...faults);
      for (const [column, problem] of Object.entries(problems)) {
        assert.equal(columns[column][0], 'fail', column);
        assert.match(columns[column][1], problem);
      }
    });
  }

  test('a model that nobody is signed in for is no failure', async () => {
    const { model: found } = await check('settings', 'keeps-model');
    assert.equal(found[0], 'ok');
    assert.match(found[1], /^only the current one: .*nobody is signed in/);
  });

  test('an agent that cannot be started fails every part', async () => {
    const found = CHECKS.find(({ id }) => id === 'sessions');
    assert.ok(found?.parts);
    const columns = spread(found, await runCase(found, { ...row(), command: ['/nonexistent/agent'] }, client, model));
    const expected = found.parts.map(({ id }) => [id, 'fail']);
    assert.deepEqual(columns.map(([id, { status }]) => [id, status]), expected);
  });
});
