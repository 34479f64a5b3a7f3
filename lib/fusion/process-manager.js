'use strict';

/** The agents of this host: their environment, their number, their end. */

const binding = require('../../binding.js');
const native = require('../native');
const { fromNative } = require('../errors.js');
const { invalid, strings } = require('../native/options.js');

/**
 * @param {readonly string[]} allowList
 * @param {import('../../types/connection').BuildSpawnEnvOptions} [options]
 * @returns {Record<string, string>}
 */
function buildSpawnEnv(allowList, options = {}) {
  strings(allowList, 'allowList');
  if (options === null || typeof options !== 'object') throw invalid('options must be an object');
  strings(options.required ?? [], 'required');
  const { sourceEnv } = options;
  if (sourceEnv !== undefined && (sourceEnv === null || typeof sourceEnv !== 'object')) throw invalid('sourceEnv must be an object');
  const source = Object.entries(sourceEnv ?? process.env).filter(([, value]) => typeof value === 'string');
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
