'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { problem, atLeast, required } = require('../../scripts/check-toolchain');
const { used, violations } = require('../../scripts/check-layers');

test('compares versions by number', () => {
  assert.ok(atLeast('1.88.0', '1.88'));
  assert.ok(atLeast('1.100.0', '1.88'));
  assert.ok(atLeast('2.0', '1.88.5'));
  assert.ok(!atLeast('1.9.0', '1.88'));
  assert.ok(!atLeast('1.88', '1.88.1'));
});

test('says in one line what is missing', () => {
  const least = { node: '20', rust: '1.88' };
  /** @param {Record<string, string>} found */
  const on = (found) => problem(least, (command) => found[command]);
  const good = { rustc: '1.95.0', cargo: '1.95.0', cc: '12.2' };
  assert.equal(on(good), undefined);
  assert.match(on({ ...good, rustc: '' }) ?? '', /^rustc was not found: install Rust 1\.88/);
  assert.match(on({ ...good, cargo: '1.70.0' }) ?? '', /^cargo 1\.70\.0 is too old/);
  assert.match(problem({ node: '999', rust: '1' }, () => '2.0') ?? '', /^Node .* is too old: install Node 999/);
});

test('takes the required versions from the manifests', () => {
  assert.match(required().rust, /^1\.\d+/);
  assert.equal(required().node, '20');
});

test('finds what a module of the core uses', () => {
  const source = `
    use crate::error::{Error, wire};
    use crate::{port::{self, pending}, text};
    // use crate::client::Client;
    fn f() { crate::trace::tap(); }
    #[cfg(test)]
    mod tests { use crate::probe; }
  `;
  assert.deepEqual([...used(source)].sort(), ['error', 'port', 'text', 'trace']);
});

test('finds a lower layer that uses a higher one, and a module without a layer', () => {
  const layers = [['error'], ['wire'], ['ask', 'probe']];
  const sources = [
    { file: 'a', module: 'wire', source: 'use crate::error; use crate::probe;' },
    { file: 'b', module: 'ask', source: 'use crate::probe; use crate::wire;' },
    { file: 'c', module: 'other', source: '' },
  ];
  assert.deepEqual(violations(sources, layers), [
    'a: wire uses probe, which is a layer above it',
    'c: the module other has no layer in scripts/check-layers.js',
  ]);
});
