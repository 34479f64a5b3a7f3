'use strict';

// What the declarations promise is there, and nothing else: for each entry, as CommonJS and as an ES module.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { pathToFileURL } = require('node:url');
const ts = require('typescript');

const ROOT = path.join(__dirname, '..', '..');

/** The values that a declaration file exports. @param {string} name */
function declared(name) {
  const file = path.join(ROOT, name);
  const program = ts.createProgram([file], { strict: true, types: [], lib: ['lib.es2022.d.ts'] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  assert.ok(source);
  const module = checker.getSymbolAtLocation(source);
  assert.ok(module, `${name} is not a module`);
  return checker.getExportsOfModule(module)
    .filter((symbol) => symbol.flags & ts.SymbolFlags.Value)
    .map((symbol) => symbol.name)
    .sort();
}

for (const entry of ['index', 'probe']) {
  const file = path.join(ROOT, `${entry}.js`);
  const skip = !fs.existsSync(file) && `${entry}.js is not there yet`;

  test(`${entry}: the values are those that the types declare`, { skip }, async () => {
    const names = declared(`${entry}.d.ts`);
    assert.ok(names.length > 0);
    const cjs = require(file);
    const esm = await import(pathToFileURL(path.join(ROOT, `${entry}.mjs`)).href);
    assert.deepEqual(Object.keys(cjs).sort(), names);
    assert.deepEqual(Object.keys(esm).sort(), names);
    for (const name of names) assert.equal(esm[name], cjs[name], `${name} has two identities`);
  });
}

const plugin = path.join(ROOT, 'plugin.js');
test('plugin: the module is the plugin, and its default', { skip: !fs.existsSync(plugin) && 'plugin.js is not there yet' }, async () => {
  const cjs = require(plugin);
  const esm = await import(pathToFileURL(path.join(ROOT, 'plugin.mjs')).href);
  assert.equal(cjs.default, cjs);
  assert.equal(esm.default, cjs);
  assert.equal(typeof cjs.manifest.id, 'string');
});
