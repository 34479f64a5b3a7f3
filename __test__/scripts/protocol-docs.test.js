'use strict';

// docs/protocol.md says nothing that is not so.

const assert = require('node:assert/strict');
const test = require('node:test');

const { facts } = require('../../scripts/generate-protocol-docs');
const { render } = require('../../scripts/lib/protocol-docs');
const { rules } = require('../../scripts/lib/protocol-rules');
const { rulesOf, tests } = require('../../scripts/lib/test-names');

test('a test shows the rules whose numbers are in its name', () => {
  assert.deepEqual(rulesOf('c07_a_broken_host'), [7]);
  assert.deepEqual(rulesOf('s06_c43_c45_an_open_question'), [43, 45]);
  for (const name of ['c7_short', 'abc07_x', 'p05_x', 'c070_x', 'c07', 'c07x_y']) assert.deepEqual(rulesOf(name), [], name);
});

test('tests are found in both languages, whatever stands before them', () => {
  const names = new Set(tests().map(({ name }) => name));
  for (const name of [
    'c07_a_broken_host_still_answers_once', 'c13_c15_c21_what_is_not_advertised_is_not_called_in_any_combination',
    'w15_a_signal_is_named', 'c27_a_cursor_that_comes_back_ends_the_list', 'a test shows the rules whose numbers are in its name',
  ]) assert.ok(names.has(name), name);
  assert.ok(!names.has('prompted'), 'a helper is no test');
});

test('there are 63 rules, each with a test or the reason why there is none', () => {
  const shown = new Set(tests().flatMap((found) => found.rules));
  assert.equal(rules().length, 63);
  for (const { number, missing } of rules()) assert.equal(shown.has(number), missing === undefined, `C${number}`);
  assert.deepEqual([...shown].filter((number) => number < 1 || number > 63), []);
});

test('what is missing or made up is told', () => {
  const good = facts();
  assert.deepEqual(render(good).problems, []);
  /** @param {Partial<import('../../scripts/lib/protocol-docs').Facts>} change @param {RegExp} problem */
  const told = (change, problem) => assert.match(render({ ...good, ...change }).problems.join('\n'), problem);
  told({ tests: good.tests.filter((found) => !found.rules.includes(7)) }, /no test shows C07/);
  told({ rules: [{ number: 7, says: 'x', missing: 'y' }] }, /C07 is shown by a test now/);
  told({ goldens: new Map() }, /no golden transcript has session\/new/);
  told({ sources: new Map() }, /no source names session\/new/);
  told({ exists: () => false }, /there is no file/);
  told({ tests: [] }, /there is no test/);
  told({ registry: { ...good.registry, newKind: [] } }, /the registry's newKind has no table/);
  told({ registry: { ...good.registry, stopReasons: [] } }, /the registry has no stopReasons/);
  told({ registry: { ...good.registry, updates: [] } }, /rules are given for plan/);
});
