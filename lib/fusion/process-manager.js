'use strict';

/** The agents of this host: their environment, their number, their end. */

const binding = require('../../binding.js');
const native = require('../native');
const { fromNative } = require('../errors.js');

/**
 * @param {readonly string[]} allowList
 * @param {import('../../types/connection').BuildSpawnEnvOptions} [options]
 * @returns {Record<string, string>}
 */
function buildSpawnEnv(allowList, options = {}) {
  const source = Object.entries(options.sourceEnv ?? process.env).filter(([, value]) => typeof value === 'string');
  const names = source.map(([name]) => name);
  const values = source.map(([, value]) => /** @type {string} */ (value));
  const { env, error } = binding.buildSpawnEnv([...allowList], [...(options.required ?? [])], names, values);
  if (error) throw fromNative(error);
  return { ...env };
}

/** Kills every process tree of this host's agents, synchronously. */
function killAllProcesses() {
  native.killAll();
}

/** @returns {number} */
function activeProcessCount() {
  return native.activeCount();
}

module.exports = { buildSpawnEnv, killAllProcesses, activeProcessCount };
