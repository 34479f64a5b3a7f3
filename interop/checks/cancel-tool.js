'use strict';

const { fail, ok } = require('../lib/verdict.js');
const { startTool, toolRuns } = require('../lib/tool-running.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'cancel-tool',
  title: 'A turn cancelled while a tool runs ends.',
  async run(test) {
    const running = await startTool(test);
    if (running.skip) return running.skip;
    const at = performance.now();
    const { state } = await test.within(running.turn.cancel(), 'cancel');
    const stopReason = await test.within(running.settled, 'the cancelled turn');
    const seconds = ((performance.now() - at) / 1000).toFixed(1);
    const lives = toolRuns(test);
    test.facts = { state, stopReason, seconds: Number(seconds), toolLives: lives };
    if (stopReason !== 'cancelled') return fail(`ended with ${stopReason} after ${seconds} s`);
    const how = [state === 'cancelled' ? '' : `${state} after ${seconds} s`, lives ? 'the tool runs on' : ''];
    return ok(how.filter(Boolean).join(', '));
  },
};
