'use strict';

const { AcpRuntimeAdapter, askAcpOnce } = require('../..');

/** @param {import('./index').AgentCommand} agent */
const adapterFor = (agent) => new AcpRuntimeAdapter({ acpBinaryPath: agent.command, acpArgs: agent.args });

/**
 * The package by its Fusion-shaped API: one callback per update.
 *
 * @returns {import('./index').Client}
 */
function load() {
  return {
    async open(agent, handlers) {
      const adapter = adapterFor(agent);
      const { session } = await adapter.createSession({ cwd: process.cwd(), systemPrompt: '', ...handlers });
      return {
        prompt: () => adapter.promptWithFallback(session, 'go'),
        close: () => adapter.dispose(session),
      };
    },
    ask: (agent) => askAcpOnce(adapterFor(agent), { prompt: 'go', cwd: process.cwd() }),
  };
}

module.exports = { load };
