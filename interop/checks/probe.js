'use strict';

const { fail, ok } = require('../lib/verdict.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'probe',
  title: '`probeAcpReadiness` finds the agent ready.',
  async run(test) {
    const { command, args, cwd, env } = test.launchOptions;
    const options = { binaryPath: command, args, cwd, env, timeoutMs: 60_000 };
    const status = await test.within(test.api.probeAcpReadiness(options), 'the probe');
    if (!status.ok) return fail(`${status.reason}: ${status.detail ?? ''}`);
    return ok(status.authRequired ? 'advertises a login' : '');
  },
};
