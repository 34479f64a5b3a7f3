'use strict';

const { performance } = require('node:perf_hooks');

/**
 * How long loading a package takes in a fresh process, everything that it loads included.
 *
 * @param {unknown} _load
 * @param {{ specifier: string, how: 'require' | 'import' }} options
 */
async function measure(_load, { specifier, how }) {
  const start = performance.now();
  if (how === 'require') require(specifier);
  else await import(specifier);
  return { ms: performance.now() - start };
}

module.exports = { measure };
