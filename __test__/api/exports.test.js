'use strict';

// What the declarations promise is there, and nothing else: for each entry, as CommonJS and as an ES module.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
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

test('loading the package reads one file and starts no thread; each part is loaded at its first use', { skip: process.platform !== 'linux' && 'threads are counted in /proc' }, () => {
  const script = `
    const { readdirSync } = require('node:fs');
    const threads = () => readdirSync('/proc/self/task').length;
    const look = () => [Object.keys(require.cache).filter((file) => file.startsWith(${JSON.stringify(ROOT)})).length, threads()];
    const before = threads();
    const runtime = require(${JSON.stringify(ROOT)});
    const loaded = look();
    const error = new runtime.AcpError('aborted', 'x');
    const used = look();
    console.log(JSON.stringify({ before, loaded, used, code: error.code }));`;
  const shown = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  const { before, loaded, used, code } = JSON.parse(shown);
  assert.deepEqual(loaded, [1, before]);
  assert.ok(used[0] <= 3 && used[1] === before, `${used[0]} files, ${used[1]} threads`);
  assert.equal(code, 'aborted');
});
