'use strict';

const { answerText } = require('../lib/driver.js');
const { fail, ok } = require('../lib/verdict.js');
const { HELLO } = require('../model/steer.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'cancel-stream',
  title: 'A turn cancelled in mid-stream ends, and the session takes the next prompt, unless the end had to be forced.',
  async run(test) {
    const { session } = await test.open();
    const turn = session.prompt(test.say('slow'));
    let seen = false;
    const drained = (async () => {
      for await (const event of turn) if (answerText(event) !== undefined) seen = true;
    })();
    drained.catch(() => {});
    const result = Promise.resolve(turn);
    result.catch(() => {});
    // An agent that holds its text back until the end is cancelled while its model streams.
    const streams = () => test.asked('slow').some((request) => Date.now() - request.startedAt > 2_000);
    await test.until(() => seen || streams(), 'the stream starts');
    const at = performance.now();
    const { state } = await test.within(turn.cancel(), 'cancel');
    const { stopReason } = await test.within(result, 'the cancelled turn');
    const seconds = ((performance.now() - at) / 1000).toFixed(1);
    test.facts = { state, stopReason, seconds: Number(seconds) };
    if (stopReason !== 'cancelled') return fail(`ended with ${stopReason} after ${seconds} s`);
    if (state === 'forced') {
      // The agent may still be at work on it: the session must say so at once.
      const refused = Promise.resolve(session.prompt(test.say('hello'))).then(
        () => false,
        () => true,
      );
      const note = `forced after ${seconds} s`;
      return (await test.within(refused, 'the next prompt')) ? ok(note) : fail(`${note}, yet the next prompt went on`);
    }
    const next = await test.within(session.prompt(test.say('hello')), 'the next turn');
    const wanted = test.row.usesModel === false ? test.say('hello') : HELLO;
    if (!next.text.includes(wanted)) return fail(`the next answer was ${JSON.stringify(next.text.slice(0, 80))}`);
    return ok();
  },
};
