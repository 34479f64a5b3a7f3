'use strict';

const { HELLO } = require('../model/steer.js');
const { fail, notApplicable, ok } = require('../lib/verdict.js');
const { hostAnswer } = require('../lib/host-process.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'ask-once',
  title: "`askAcpOnce` on this package's `AcpRuntimeAdapter` answers, in a host with the agent's environment.",
  async run(test) {
    if (!test.api.askAcpOnce) return notApplicable('this client has no askAcpOnce');
    const result = await hostAnswer(test, { mode: 'ask', prompt: test.say('hello'), timeoutMs: 80_000 });
    if (!result.ok) return fail(`${result.reason}: ${String(result.message).slice(0, 200)}`);
    const wanted = test.row.usesModel === false ? test.say('hello') : HELLO;
    return result.text.includes(wanted) ? ok() : fail(`the answer was ${JSON.stringify(result.text.slice(0, 120))}`);
  },
};
