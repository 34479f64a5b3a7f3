'use strict';

// Agents for the tests of the adapter: as settings, as connections.

const os = require('node:os');
const { AcpRuntimeAdapter, connect } = require('../..');
const { script, turn } = require('../support/fake-agent.js');

const cwd = os.tmpdir();

/** The settings of an agent that plays these steps. @param {any[]} steps @param {object} [settings] */
function settings(steps, more = {}) {
  const { command, args } = script(steps);
  return { acpBinaryPath: command, acpArgs: args, ...more };
}

/** @param {any[]} steps @param {object} [more] */
function adapter(steps, more) {
  return new AcpRuntimeAdapter(settings(steps, more));
}

/** @param {any[]} steps @param {object} [options] */
function connection(steps, options = {}) {
  const { command, args } = script(steps);
  return connect({ binaryPath: command, args, cwd, env: {}, advertiseFs: { read: false, write: false }, ...options });
}

/** Says what a step received, as the turn's text. @param {string} value */
const say = (value) => ({ do: 'text', text: value });

module.exports = { adapter, connection, cwd, say, script, settings, turn };
