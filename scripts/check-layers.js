'use strict';

// The architecture's two rules that a compiler does not check: the core does not know Node, and a module of the core
// uses only modules from its own layer or the ones below.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { root, fail, filesBelow } = require('./common');

/** The layers of `crates/acp-runtime/src`, lowest first. */
const LAYERS = [
  ['error'],
  ['text'],
  ['wire'],
  ['process', 'trace', 'delivery', 'diagnostics', 'capabilities'],
  ['pending'],
  ['services', 'port'],
  ['bridge'],
  ['session'],
  ['connection'],
  ['client'],
  ['ask', 'verdict', 'probe'],
];

/**
 * The modules that a source text uses by an absolute path, tests left out.
 *
 * @param {string} source
 * @returns {Set<string>}
 */
function used(source) {
  const code = source.replace(/\/\/.*$/gm, '').split(/#\[cfg\(test\)\]\s*mod\s+\w+\s*\{/)[0];
  const modules = new Set();
  for (const [, name] of code.matchAll(/\bcrate::(\w+)/g)) modules.add(name);
  for (const [, group] of code.matchAll(/\bcrate::\{([^;]*)\}/g)) {
    // Only the first name of each entry is a module of the crate; what is nested below it is not.
    let depth = 0;
    let entry = '';
    for (const character of `${group},`) {
      if (character === '{') depth++;
      if (character === '}') depth--;
      if (character === ',' && depth === 0) {
        const name = /^\s*(\w+)/.exec(entry)?.[1];
        if (name) modules.add(name);
        entry = '';
      } else entry += character;
    }
  }
  return modules;
}

/**
 * Every use of a higher layer by a lower one.
 *
 * @param {{ file: string, module: string, source: string }[]} sources
 * @param {string[][]} layers
 * @returns {string[]} One line for each.
 */
function violations(sources, layers) {
  const level = new Map(layers.flatMap((modules, index) => modules.map((name) => [name, index])));
  const lines = [];
  for (const { file, module, source } of sources) {
    const own = level.get(module);
    if (own === undefined) {
      lines.push(`${file}: the module ${module} has no layer in scripts/check-layers.js`);
      continue;
    }
    for (const name of used(source)) {
      const other = level.get(name);
      if (other !== undefined && other > own) lines.push(`${file}: ${module} uses ${name}, which is a layer above it`);
    }
  }
  return lines;
}

function coreSources() {
  const base = path.join(root, 'crates', 'acp-runtime', 'src');
  return filesBelow(base, (file) => file.endsWith('.rs') && !/(_tests|[\\/]tests)\.rs$/.test(file))
    .map((file) => ({ file: path.relative(root, file), inside: path.relative(base, file), path: file }))
    .filter(({ inside }) => inside !== 'lib.rs')
    .map(({ file, inside, path: full }) => ({
      file,
      module: inside.split(path.sep)[0].replace(/\.rs$/, ''),
      source: fs.readFileSync(full, 'utf8'),
    }));
}

/** The packages that the core is built from, on any platform. */
function coreDependencies() {
  const args = ['tree', '-p', 'acp-runtime', '-e', 'normal,build', '--target', 'all', '--prefix', 'none'];
  const { status, stdout, stderr, error } = spawnSync('cargo', args, { cwd: root, encoding: 'utf8' });
  if (error || status !== 0) fail(`cargo tree failed: ${error?.message ?? stderr}`);
  return stdout.split('\n').map((line) => line.split(' ')[0]);
}

function main() {
  const problems = violations(coreSources(), LAYERS);
  const napi = coreDependencies().find((name) => /^napi\b/.test(name));
  if (napi) problems.push(`crates/acp-runtime depends on ${napi}: the core knows nothing of Node`);
  if (problems.length > 0) fail(problems.join('\n'));
  process.stdout.write('layers: the core keeps its layers and does not know Node\n');
}

if (require.main === module) main();

module.exports = { used, violations };
