'use strict';

/** The pinned Claude bridge, signed in, signed out and without `claude`: only for the row that has it. */

const fs = require('node:fs');
const path = require('node:path');
const { HELLO } = require('../model/steer.js');
const { fail, notApplicable, ok } = require('../lib/verdict.js');
const { hostAnswer } = require('../lib/host-process.js');

/** @param {import('../lib/table.js').AgentRow} row */
const isBridge = (row) => row.signIn !== undefined;

/**
 * The states that an operator's machine can be in.
 *
 * @param {import('../lib/case.js').Case} test
 * @param {(env: NodeJS.ProcessEnv) => Promise<any>} ask
 */
async function inEachState(test, ask) {
  const { env } = test.scratch;
  const signedIn = await ask(env);
  for (const name of test.row.signIn ?? []) fs.rmSync(path.join(env.HOME, name));
  const signedOut = await ask(env);
  // Only what `node` lies in.
  const without = await ask({ ...env, PATH: path.dirname(process.execPath) });
  return { signedIn, signedOut, without };
}

/** @type {import('./index.js').Check} */
const setup = {
  id: 'setup',
  fits: isBridge,
  title: '`checkSetup` finds the pinned bridge installed when signed in, and says what to do when signed out or without `claude`.',
  async run(test) {
    if (!test.api.checkSetup) return notApplicable('this client has no checkSetup');
    const found = await inEachState(test, (env) => hostAnswer(test, { mode: 'setup' }, env));
    test.facts = Object.fromEntries(Object.entries(found).map(([state, { status, error }]) => [state, { status, error }]));
    const { signedIn, signedOut, without } = found;
    if (signedIn.status !== 'installed' || signedIn.error) return fail(`signed in: ${JSON.stringify(test.facts.signedIn)}`);
    for (const [state, { status, error }] of Object.entries({ signedOut, without })) {
      if (status !== 'error' || !/run `claude` once to authenticate/.test(error)) {
        return fail(`${state}: ${JSON.stringify(test.facts[state])}`);
      }
    }
    return ok();
  },
};

/** @type {import('./index.js').Check} */
const askProfile = {
  id: 'ask-profile',
  fits: isBridge,
  title: '`askAcpOnce` by `resolveClaudeBridgeAskSettings` answers when signed in, and fails with a code when signed out or without `claude`.',
  async run(test) {
    if (!test.api.askAcpOnce) return notApplicable('this client has no askAcpOnce');
    const prompt = test.say('hello');
    const { signedIn, signedOut, without } = await inEachState(test, (env) =>
      hostAnswer(test, { mode: 'ask', profile: true, prompt, timeoutMs: 60_000 }, env),
    );
    test.facts = { signedIn, signedOut, without };
    if (!signedIn.ok || !signedIn.text.includes(HELLO)) return fail(`signed in: ${signedIn.message ?? signedIn.text}`);
    if (signedOut.ok || signedOut.code !== 'sign_in_required') return fail(`signed out: ${JSON.stringify(signedOut).slice(0, 200)}`);
    if (without.ok || !without.code) return fail(`without claude: ${JSON.stringify(without).slice(0, 200)}`);
    return ok(`without claude: ${without.reason}, ${without.code}`);
  },
};

module.exports = [setup, askProfile];
