'use strict';

const { HELLO } = require('../model/steer.js');
const { fail, ok } = require('../lib/verdict.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'ask',
  title: "A prompt's answer comes back whole, and the turn ends with `end_turn`.",
  async run(test) {
    const started = performance.now();
    const { client, session } = await test.open();
    const prompt = test.say('hello');
    const { stopReason, text, usage } = await test.within(session.prompt(prompt), 'the turn');
    test.facts = {
      protocolVersion: client.protocolVersion,
      agent: client.agentInfo ? `${client.agentInfo.name} ${client.agentInfo.version}` : undefined,
      usage: usage !== undefined && usage !== null,
      answerSeconds: Math.round((performance.now() - started) / 100) / 10,
    };
    const wanted = test.row.usesModel === false ? test.say('hello') : HELLO;
    if (!text.includes(wanted)) return fail(`the answer was ${JSON.stringify(text.slice(0, 120))}`);
    return stopReason === 'end_turn' ? ok() : fail(`stopReason ${stopReason}`);
  },
};
