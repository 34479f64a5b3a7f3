'use strict';

const { ok, fail } = require('../lib/verdict.js');
const { startTool } = require('../lib/tool-running.js');

/** A pending turn must settle soon after its connection is gone. */
const SETTLE_MS = 10_000;

/**
 * @param {string} id
 * @param {string} title
 * @param {(client: any, test: import('../lib/case.js').Case) => Promise<unknown>} end
 * @returns {import('./index.js').Check}
 */
function cutShort(id, title, end) {
  return {
    id,
    title,
    async run(test) {
      const running = await startTool(test);
      if (running.skip) return running.skip;
      test.endsAgent = id !== 'close-tool';
      const at = performance.now();
      await end(running.client, test);
      const seconds = ((performance.now() - at) / 1000).toFixed(1);
      const survivors = await test.survivors();
      const how = await test.within(running.settled, 'the pending turn', SETTLE_MS);
      test.facts = { seconds: Number(seconds), turn: how };
      const left = survivors?.atOnce ?? [];
      if (left.length > 0) return fail(`${left.length} left after ${seconds} s: ${left[0].slice(0, 100)}`);
      return ok(survivors ? '' : 'processes cannot be found on this system');
    },
  };
}

module.exports = [
  cutShort('close-tool', 'close() while a tool runs leaves no process, and the pending turn settles.', (client, test) =>
    test.within(client.close(), 'close'),
  ),
  cutShort('kill-tool', 'kill() while a tool runs leaves no process, and the pending turn settles.', (client, test) => {
    client.kill();
    return test.within(client.closed, 'closed');
  }),
  cutShort(
    'agent-dies',
    'An agent killed from outside while a tool runs leaves no process, and the pending turn settles.',
    (client, test) => {
      process.kill(client.pid, 'SIGKILL');
      return test.within(client.closed, 'closed');
    },
  ),
];
