'use strict';

const { dispatch } = require('./dispatch');
const { pipes } = require('./pipes');

/** Lets the largest line of the benchmark through; the SDK's own limit is lower. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * The TypeScript SDK 2.4 with the smallest client that its interface allows.
 *
 * @returns {Promise<import('./index').Client>}
 */
async function load() {
  const sdk = await import('@agentclientprotocol/sdk-2.4');
  return {
    async open(agent, handlers) {
      const { input, output, close } = pipes(agent);
      const app = sdk.client().onNotification('session/update', ({ params: { update } }) => {
        dispatch(update, update.sessionUpdate, handlers);
      });
      const connection = app.connect(sdk.ndJsonStream(output, input, { maxMessageBytes: MAX_MESSAGE_BYTES }));
      await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await connection.agent.request('session/new', { cwd: process.cwd(), mcpServers: [] });
      const prompt = [{ type: /** @type {const} */ ('text'), text: 'go' }];
      return {
        prompt: () => connection.agent.request('session/prompt', { sessionId, prompt }),
        close,
      };
    },
  };
}

module.exports = { load };
