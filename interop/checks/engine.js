'use strict';

/** What the Fusion engine does with a runtime plugin. */

const { HELLO, VERDICT } = require('../model/steer.js');
const { fail, notApplicable, ok } = require('../lib/verdict.js');
const { hostAnswer } = require('../lib/host-process.js');

/** Silence after which an ask gives up; a model on loopback answers at once. */
const IDLE_MS = 20_000;

/** @type {import('./index.js').Check} */
const pluginHost = {
  id: 'plugin-host',
  title: 'A plugin host loads the plugin, makes its runtime, opens a session with a tool of its own, prompts twice, and disposes.',
  async run(test) {
    if (!test.api.AcpRuntimeAdapter) return notApplicable('this client has no plugin');
    const prompt = test.say('hello');
    const result = await hostAnswer(test, { mode: 'session', prompt });
    const wanted = test.row.usesModel === false ? prompt : HELLO;
    test.facts = { model: result.model, notices: result.notices, stopReasons: result.stopReasons };
    if (result.stopReasons.join() !== 'end_turn,end_turn') return fail(`the turns ended with ${result.stopReasons.join()}`);
    if (result.text.split(wanted).length < 3) return fail(`the callbacks heard ${JSON.stringify(result.text.slice(0, 120))}`);
    if (result.subscribed !== result.text) return fail('the subscriber heard another text than the callbacks');
    return ok();
  },
};

/** @type {import('./index.js').Check} */
const validate = {
  id: 'validate',
  title: '`runCliAgentValidation` passes on a verdict in JSON, and on nothing else.',
  async run(test) {
    if (!test.api.runCliAgentValidation) return notApplicable('this client has no validator');
    if (test.row.usesModel === false) return notApplicable('the agent says no verdict');
    // The strict system prompt, unless the agent can only take a short text.
    const systemPrompt = test.row.shortPrompts ? '' : undefined;
    const ask = (/** @type {string} */ word) =>
      hostAnswer(test, { mode: 'validate', prompt: test.say(word), systemPrompt, timeoutMs: 80_000 });
    const prose = await ask('hello');
    if (prose.status !== 'error') return fail(`prose was taken for ${prose.status}`);
    const { status, summary } = await ask('verdict');
    if (status !== 'pass' || summary !== VERDICT.summary) return fail(`${status}: ${String(summary).slice(0, 200)}`);
    return ok();
  },
};

/** @type {import('./index.js').Check} */
const longAsk = {
  id: 'long-ask',
  title: `An ask of 40 lines is answered, or ends as a typed timeout after ${IDLE_MS / 1000} s of silence.`,
  async run(test) {
    if (!test.api.askAcpOnce) return notApplicable('this client has no askAcpOnce');
    const lines = Array.from({ length: 40 }, (_, index) => `Line ${index + 1} of the task.`);
    const prompt = `${lines.join('\n')}\n${test.say('hello')}`;
    const result = await hostAnswer(test, { mode: 'ask', prompt, more: { acpIdleTimeoutMs: test.row.idleMs ?? IDLE_MS } });
    test.facts = { reason: result.reason, code: result.code, message: result.message };
    if (result.ok) return ok();
    if (result.reason === 'timeout' && result.code === 'turn_stalled') return ok(`not answered: ${result.message}`);
    return fail(`${result.reason}: ${String(result.message).slice(0, 200)}`);
  },
};

module.exports = [pluginHost, validate, longAsk];
