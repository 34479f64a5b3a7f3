'use strict';

const { answerText } = require('../lib/driver.js');
const { fail, ok } = require('../lib/verdict.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'streaming',
  title: 'An answer that the model streams arrives in several chunks, the first before the model has ended.',
  async run(test) {
    const { session } = await test.open();
    const turn = session.prompt(test.say('stream'));
    let chunks = 0;
    let first = Infinity;
    const drained = (async () => {
      for await (const event of turn) {
        if (answerText(event) === undefined) continue;
        chunks++;
        first = Math.min(first, Date.now());
      }
    })();
    await test.within(drained, 'the turn');
    // An agent may ask the model something else first with the same words.
    const ends = test.asked('stream').map((request) => request.finishedAt ?? 0);
    const ended = test.row.usesModel === false ? Infinity : Math.max(0, ...ends);
    test.facts = { chunks };
    if (chunks < 2) return fail(`${chunks} chunk`);
    return first < ended ? ok(`${chunks} chunks`) : fail(`${chunks} chunks, all after the model had ended`);
  },
};
