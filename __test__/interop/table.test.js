'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { CHECKS, COLUMNS, GROUPS } = require('../../interop/checks');
const { document } = require('../../interop/lib/document.js');
const { makeScratch } = require('../../interop/lib/scratch.js');
const { asExpected } = require('../../interop/lib/report.js');
const { fill, loadTable, select, validate } = require('../../interop/lib/table.js');

const rows = loadTable();

test('every row names a real check where it expects something else than ok', () => {
  const ids = COLUMNS.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(new Set(CHECKS.map(({ id }) => id)).size, CHECKS.length);
  for (const row of rows) for (const id of Object.keys(row.expect)) assert.ok(ids.includes(id), `${row.id}: ${id}`);
});

test('every placeholder of every row is filled', () => {
  for (const row of rows) {
    const scratch = makeScratch(row, 4711);
    try {
      const text = JSON.stringify([scratch.command, scratch.args, scratch.env]);
      assert.doesNotMatch(text, /\{\w+\}/, row.id);
      assert.equal(scratch.env.ACP_INTEROP_MARK, scratch.mark);
      assert.ok(scratch.env.HOME.includes(scratch.mark));
    } finally {
      scratch.remove();
    }
  }
});

test('the environment holds nothing of the host but what the kit sets', () => {
  process.env.ACP_INTEROP_SECRET = 'x';
  const scratch = makeScratch(rows[0], 1);
  scratch.remove();
  delete process.env.ACP_INTEROP_SECRET;
  assert.ok(!('ACP_INTEROP_SECRET' in scratch.env));
});

test('a row that is not complete is told what it lacks', () => {
  const faults = validate({
    id: 'x',
    install: { npm: ['left-pad'] },
    expect: { ask: { is: 'maybe' }, probe: { is: ['ok', 'never'], because: 'It depends.' } },
    afterNew: [{ jump: 1 }],
  });
  for (const word of [
    'title',
    'command',
    'exact version',
    'env and home',
    'expect.ask.is',
    'expect.probe.is',
    'no reason',
    'jump',
    'faults',
  ]) {
    assert.ok(
      faults.some((fault) => fault.includes(word)),
      word,
    );
  }
});

test('an unknown agent is refused', () => {
  assert.throws(() => select(rows, ['nobody']), /no such agent: nobody/);
  assert.equal(select(rows, []).length, rows.length);
});

test('placeholders are filled in keys, lists and texts; unknown ones stay', () => {
  assert.deepEqual(fill({ '{a}': ['{b}', 1, null] }, { a: 'x', b: 'y' }), { x: ['y', 1, null] });
  assert.equal(fill('{nothing}', {}), '{nothing}');
});

test('a process left behind is never expected', () => {
  const row = { ...rows[0], expect: {} };
  const good = { status: /** @type {const} */ ('ok'), note: '', seconds: 1, survivors: { atOnce: [], staying: [] } };
  assert.equal(asExpected(row, 'ask', good), true);
  assert.equal(asExpected(row, 'ask', { ...good, survivors: { atOnce: ['x'], staying: [] } }), false);
  assert.equal(asExpected(row, 'ask', { ...good, status: 'n/a' }), false);
});

test('what an agent does not offer is no fault, unless its row says that it does', () => {
  const found = { status: /** @type {const} */ ('not offered'), note: '', seconds: 1, survivors: undefined };
  assert.equal(asExpected({ ...rows[0], expect: {} }, 'fork', found), true);
  const stated = { fork: { is: /** @type {const} */ ('ok'), because: 'It says so.' } };
  assert.equal(asExpected({ ...rows[0], expect: stated }, 'fork', found), false);
});

test('a check that goes one way or the other may be expected to', () => {
  const found = { note: '', seconds: 1, survivors: undefined };
  const row = { ...rows[0], expect: { ask: { is: /** @type {('ok' | 'fail')[]} */ (['ok', 'fail']), because: 'It depends.' } } };
  assert.equal(asExpected(row, 'ask', { ...found, status: 'ok' }), true);
  assert.equal(asExpected(row, 'ask', { ...found, status: 'fail' }), true);
  assert.equal(asExpected(row, 'ask', { ...found, status: 'n/a' }), false);
  assert.equal(asExpected(row, 'probe', { ...found, status: 'fail' }), false);
});

test('a document needs a run of the package', () => {
  assert.throws(() => document(rows, GROUPS, 'no such client'), /no agent was run yet/);
});
