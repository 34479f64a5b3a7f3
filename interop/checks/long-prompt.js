'use strict';

const { HELLO } = require('../model/steer.js');
const { fail, ok } = require('../lib/verdict.js');

/** As long as a real task's prompt: several terminal buffers. */
const LINES = 400;

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'long-prompt',
  title: `A prompt of ${LINES} lines is answered.`,
  async run(test) {
    const { session } = await test.open();
    const lines = Array.from({ length: LINES }, (_, index) => `Line ${index + 1} of the task.`);
    const prompt = `${lines.join('\n')}\n${test.say('hello')}`;
    const { text } = await test.within(session.prompt(prompt), 'the turn');
    const wanted = test.row.usesModel === false ? lines[LINES - 1].split(' ')[0] : HELLO;
    return text.includes(wanted) ? ok() : fail(`the answer was ${JSON.stringify(text.slice(0, 120))}`);
  },
};
