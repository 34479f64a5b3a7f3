'use strict';

const { dispatch } = require('./dispatch');
const { pipes } = require('./pipes');

/**
 * The TypeScript SDK 0.24 with the smallest client that its interface allows.
 *
 * @returns {Promise<import('./index').Client>}
 */
async function load() {
  const sdk = await import('@agentclientprotocol/sdk-0.24');
  return {
    async open(agent, handlers) {
      const { input, output, close } = pipes(agent);
      const client = {
        /** @param {any} params */
        async sessionUpdate({ update }) {
          dispatch(update, update.sessionUpdate, handlers);
        },
        requestPermission: async () => ({ outcome: { outcome: /** @type {const} */ ('cancelled') } }),
      };
      const connection = new sdk.ClientSideConnection(() => client, sdk.ndJsonStream(output, input));
      await connection.initialize({ protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await connection.newSession({ cwd: process.cwd(), mcpServers: [] });
      return {
        prompt: () => connection.prompt({ sessionId, prompt: [{ type: 'text', text: 'go' }] }),
        close,
      };
    },
  };
}

module.exports = { load };
