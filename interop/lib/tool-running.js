'use strict';

const { notApplicable } = require('./verdict.js');

/** A tool that has not started by then never will. */
const TOOL_START_MS = 45_000;

/**
 * Opens a session, prompts for the long-running tool with every permission allowed, and waits until it runs.
 *
 * @param {import('./case.js').Case} test
 * @returns {Promise<{ client: any, session: any, turn: any, settled: Promise<string>, skip?: undefined }
 *   | { skip: import('./verdict.js').Verdict }>} `settled` tells how the turn ended, and never rejects
 */
async function startTool(test) {
  if (test.row.usesModel === false) return { skip: notApplicable('the agent has no tools') };
  const { client, session } = await test.open('allow');
  const turn = session.prompt(test.say('long'));
  let over = false;
  const settled = Promise.resolve(turn)
    .then(
      (/** @type {any} */ result) => result.stopReason,
      (/** @type {any} */ error) => `error ${error.code ?? error.message}`,
    )
    .finally(() => (over = true));
  try {
    await test.until(() => over || test.exists('long'), 'the tool starts', TOOL_START_MS);
  } catch (error) {
    return { skip: notApplicable(String(/** @type {Error} */ (error).message)) };
  }
  if (!test.exists('long')) return { skip: notApplicable(`no tool was started: ${await settled}`) };
  return { client, session, turn, settled };
}

/**
 * @param {import('./case.js').Case} test
 * @returns {boolean} the tool that {@link startTool} started still runs
 */
function toolRuns(test) {
  const { survivorsOf } = require('./processes.js');
  return survivorsOf(test.scratch.mark).some(({ command }) => /^node -e /.test(command));
}

module.exports = { startTool, toolRuns };
