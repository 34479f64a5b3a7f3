'use strict';

const { pathToFileURL } = require('node:url');

/**
 * The plugin that this package replaces, bundled from a checkout of it (see `lib/prepare.js`). Same calls as `ours.js`.
 *
 * @returns {Promise<import('./index').Client>}
 */
async function load() {
  const bundle = process.env.BENCH_INCUMBENT_BUNDLE;
  if (!bundle) throw new Error('BENCH_INCUMBENT_BUNDLE is not set');
  const { AcpRuntimeAdapter } = await import(pathToFileURL(bundle).href);
  return {
    async open(agent, handlers) {
      const adapter = new AcpRuntimeAdapter({ acpBinaryPath: agent.command, acpArgs: agent.args });
      const { session } = await adapter.createSession({ cwd: process.cwd(), systemPrompt: '', ...handlers });
      return {
        prompt: () => adapter.promptWithFallback(session, 'go'),
        close: () => adapter.dispose(session),
      };
    },
  };
}

module.exports = { load };
