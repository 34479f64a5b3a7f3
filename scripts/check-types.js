'use strict';

/**
 * Checks the public declarations as their users compile them: every file below `__test__/types` under a matrix of
 * compiler settings, never with `skipLibCheck`. Also fails when `protocol.d.ts` is not what the schema gives.
 *
 *   node scripts/check-types.js            the whole matrix
 *   node scripts/check-types.js <name>…    only the settings whose name contains one of these
 */

const fs = require('node:fs');
const path = require('node:path');
const ts = require('typescript');
const generator = require('./generate-protocol-types.js');

const ROOT = path.join(__dirname, '..');
const TESTS = path.join(ROOT, '__test__', 'types');

/** @type {import('typescript').CompilerOptions} */
const BASE = {
  noEmit: true,
  strict: true,
  skipLibCheck: false,
  isolatedModules: true,
  esModuleInterop: true,
  noUncheckedIndexedAccess: true,
  target: ts.ScriptTarget.ES2022,
  forceConsistentCasingInFileNames: true,
};
const NODE16 = { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 };
const BUNDLER = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
const CLASSIC = {
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  // This resolution does not know a package's reference to itself; it finds the files beside package.json.
  paths: { 'fusion-acp-runtime': ['./index.d.ts'], 'fusion-acp-runtime/*': ['./*.d.ts'] },
  baseUrl: ROOT,
};
const BARE = { lib: ['lib.es2022.d.ts'], types: [] };
const NODE = { lib: ['lib.es2022.d.ts'], types: ['node'] };
const DOM = { lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'], types: [] };
const NEWEST = { lib: ['lib.esnext.d.ts'], types: [] };

/**
 * `host` says which of the host-dependent files belong: `bare`, `node` or `using`. `esm` compiles the same files as
 * ES modules.
 *
 * @type {Array<{ name: string, host: string[], esm?: boolean, options: import('typescript').CompilerOptions }>}
 */
const MATRIX = [
  { name: 'node16 cjs, no types', host: ['bare'], options: { ...NODE16, ...BARE } },
  { name: 'node16 esm, no types', host: ['bare'], esm: true, options: { ...NODE16, ...BARE, verbatimModuleSyntax: true } },
  { name: 'node16 cjs, node types', host: ['node', 'using'], options: { ...NODE16, ...NODE } },
  { name: 'node16 esm, node types', host: ['node', 'using'], esm: true, options: { ...NODE16, ...NODE } },
  {
    name: 'node16 esm, node types, exact optional',
    host: ['node', 'using'],
    esm: true,
    options: { ...NODE16, ...NODE, exactOptionalPropertyTypes: true, noPropertyAccessFromIndexSignature: true },
  },
  { name: 'node16 cjs, no types, exact optional', host: ['bare'], options: { ...NODE16, ...BARE, exactOptionalPropertyTypes: true } },
  { name: 'bundler, dom', host: [], esm: true, options: { ...BUNDLER, ...DOM } },
  { name: 'bundler, newest lib, no types', host: ['using'], esm: true, options: { ...BUNDLER, ...NEWEST } },
  { name: 'node10, no types', host: ['bare'], options: { ...CLASSIC, ...BARE } },
];
const HOSTS = ['bare', 'node', 'using'];

/** @type {Map<string, import('typescript').SourceFile | undefined>} */
const libraries = new Map();

/**
 * A host that shows each test file under the extension of the module kind, so that one text is compiled as both, and
 * that parses the compiler's own declarations once.
 *
 * @param {import('typescript').CompilerOptions} options
 */
function compilerHost(options) {
  const host = ts.createCompilerHost(options);
  /** @param {string} file */
  const real = (file) => (file.endsWith('.test-d.mts') ? `${file.slice(0, -'.mts'.length)}.ts` : file);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => fileExists.call(host, real(file));
  host.readFile = (file) => readFile.call(host, real(file));
  host.getSourceFile = (file, version, onError, force) => {
    if (!/[\\/]typescript[\\/]lib[\\/]lib\./.test(file)) return getSourceFile.call(host, file, version, onError, force);
    if (!libraries.has(file)) libraries.set(file, getSourceFile.call(host, file, version, onError, force));
    return libraries.get(file);
  };
  return host;
}

/**
 * The files of one run: the tests, and every public declaration file, used or not.
 *
 * @param {{ host: string[], esm?: boolean }} run
 * @returns {string[]}
 */
function filesOf(run) {
  const names = fs.readdirSync(TESTS).filter((name) => {
    if (name.endsWith('.test-d.cts')) return !run.esm;
    if (!name.endsWith('.test-d.ts')) return false;
    const stem = name.slice(0, -'.test-d.ts'.length);
    return !HOSTS.includes(stem) || run.host.includes(stem);
  });
  const tests = names.map((name) => path.join(TESTS, run.esm ? name.replace(/\.ts$/, '.mts') : name));
  const entries = ['index', 'probe', 'plugin'].map((name) => path.join(ROOT, `${name}.d.${run.esm ? 'mts' : 'ts'}`));
  return [...tests, ...entries];
}

/**
 * @param {(typeof MATRIX)[number]} run
 * @returns {number} how many diagnostics there were
 */
function check(run) {
  const options = { ...BASE, ...run.options };
  const host = compilerHost(options);
  const files = filesOf(run);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(files, options, host));
  console.log(`${diagnostics.length === 0 ? 'ok  ' : 'FAIL'} ${run.name} (${files.length} files)`);
  if (diagnostics.length > 0) {
    const format = { getCurrentDirectory: () => ROOT, getCanonicalFileName: String, getNewLine: () => '\n' };
    console.error(ts.formatDiagnostics(diagnostics, /** @type {any} */ (format)));
  }
  return diagnostics.length;
}

/**
 * @param {string[]} wanted
 * @returns {number} the exit code
 */
function main(wanted) {
  const runs = MATRIX.filter((run) => wanted.length === 0 || wanted.some((part) => run.name.includes(part)));
  if (runs.length === 0) throw new Error(`no settings match ${wanted.join(', ')}`);
  const stale = generator.main(['--check']);
  const failed = runs.filter((run) => check(run) > 0).length;
  console.log(`${runs.length - failed} of ${runs.length} settings passed, TypeScript ${ts.version}`);
  return stale || (failed > 0 ? 1 : 0);
}

if (require.main === module) process.exitCode = main(process.argv.slice(2));

module.exports = { main };
