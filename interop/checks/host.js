'use strict';

const { fail, notApplicable, ok } = require('../lib/verdict.js');
const { startHost } = require('../lib/host-process.js');
const { canScan, waitUntilGone } = require('../lib/processes.js');

/** The tree of a host that is gone must follow within this time. */
const FOLLOW_MS = 10_000;

/**
 * @param {string} id
 * @param {string} title
 * @param {(host: ReturnType<typeof startHost>) => void} end
 * @returns {import('./index.js').Check}
 */
function hostCheck(id, title, end) {
  return {
    id,
    title,
    async run(test) {
      if (test.row.usesModel === false) return notApplicable('the agent has no tools');
      if (!canScan) return notApplicable('processes cannot be found on this system');
      const host = startHost(test, { mode: 'hold', prompt: test.say('long') });
      try {
        await test.within(Promise.race([host.message(), host.exited]), 'the host prompts');
        try {
          await test.until(() => host.over || test.exists('long'), 'the tool starts', 45_000);
        } catch (error) {
          return notApplicable(String(/** @type {Error} */ (error).message));
        }
        if (!test.exists('long')) return notApplicable(`no tool was started: ${host.stderr.slice(-200)}`);
        const at = performance.now();
        end(host);
        await test.within(host.exited, 'the end of the host');
        const left = await waitUntilGone(test.scratch.mark, FOLLOW_MS);
        const seconds = ((performance.now() - at) / 1000).toFixed(1);
        test.facts = { seconds: Number(seconds) };
        if (left.length > 0) return fail(`${left.length} left after ${seconds} s: ${left[0].command.slice(0, 100)}`);
        return ok();
      } finally {
        host.kill();
        await test.within(host.exited, 'the end of the host');
        await waitUntilGone(test.scratch.mark, FOLLOW_MS);
      }
    },
  };
}

module.exports = [
  hostCheck('host-exits', 'A host that calls process.exit() while a tool runs takes every process with it.', (host) =>
    host.send('exit'),
  ),
  hostCheck('host-killed', 'A host that is killed by SIGKILL while a tool runs takes every process with it.', (host) =>
    host.kill(),
  ),
];
