'use strict';

const { AcpClient } = require('../..');
const { dispatch } = require('./dispatch');

/**
 * The package by its typed API: one turn of a `for await` loop per update.
 *
 * @returns {import('./index').Client}
 */
function load() {
  return {
    async open(agent, handlers) {
      const cwd = process.cwd();
      const client = await AcpClient.launch({ command: agent.command, args: agent.args, cwd, env: {} });
      const session = await client.newSession({ cwd });
      return {
        async prompt() {
          for await (const event of session.prompt('go')) dispatch(event, event.type, handlers);
        },
        close: async () => void (await client.close()),
      };
    },
    async ask(agent) {
      const cwd = process.cwd();
      const client = await AcpClient.launch({ command: agent.command, args: agent.args, cwd, env: {} });
      try {
        const session = await client.newSession({ cwd });
        return await session.prompt('go');
      } finally {
        await client.close();
      }
    },
  };
}

module.exports = { load };
