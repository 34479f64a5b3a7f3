'use strict';

const { spawn } = require('node:child_process');
const { Readable, Writable } = require('node:stream');

/**
 * Starts the agent with its pipes as web streams: what the SDK's documentation tells a client to do.
 *
 * @param {import('./index').AgentCommand} agent
 */
function pipes(agent) {
  const child = spawn(agent.command, agent.args, { stdio: ['pipe', 'pipe', 'ignore'] });
  return {
    input: /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(child.stdout)),
    output: /** @type {WritableStream<Uint8Array>} */ (Writable.toWeb(child.stdin)),
    /** @returns {Promise<void>} */
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

module.exports = { pipes };
