'use strict';

// A client of the typed API and a fake agent that plays a script for it.

const assert = require('node:assert/strict');
const { AcpClient } = require('../..');
const { script } = require('./fake-agent.js');

/** @typedef {import('./fake-agent.js').Step} Step */

/**
 * @param {Step[]} steps
 * @param {Partial<import('../../types/client').LaunchOptions>} [options]
 */
function scripted(steps, options = {}) {
  return AcpClient.launch({ ...script(steps), cwd: process.cwd(), env: {}, ...options });
}

/**
 * Ends a client whose agent must have played its whole script.
 *
 * @param {import('../../types/client').AcpClient} client
 */
async function end(client) {
  const exit = await client.close({ graceMs: 30_000 });
  assert.equal(exit.exitCode, 0, client.stderr());
}

/**
 * The steps of one request and its answer.
 *
 * @param {string} method
 * @param {unknown} [params] A pattern.
 * @param {unknown} [result]
 * @returns {Step[]}
 */
function answered(method, params = { $any: true }, result = {}) {
  return [{ do: 'expect', method, params, strict: true }, { do: 'respond', result }];
}

/**
 * `initialize` with these capabilities.
 *
 * @param {object} agentCapabilities
 * @returns {Step}
 */
function initialize(agentCapabilities) {
  return { do: 'initialize', result: { agentCapabilities } };
}

/** A promise and its switch. Unlike the runtime's listeners it keeps Node alive, as long as a test may take. */
function gate() {
  /** @type {(value?: any) => void} */
  let open = () => {};
  const alive = setTimeout(() => {}, 55_000);
  const opened = new Promise((resolve) => {
    open = (value) => {
      clearTimeout(alive);
      resolve(value);
    };
  });
  return { open, opened };
}

module.exports = { answered, end, gate, initialize, scripted };
