'use strict';

const { HELLO } = require('../model/steer.js');
const { picture } = require('../lib/image.js');
const { refused } = require('../lib/offers.js');
const { fail, ok } = require('../lib/verdict.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'image',
  title: 'A prompt with an image is answered, and the image reaches the model.',
  async run(test) {
    const { client, session } = await test.open();
    const prompt = [
      { type: 'text', text: test.say('hello') },
      { type: 'image', data: picture(), mimeType: 'image/png' },
    ];
    const turn = () => Promise.resolve(session.prompt(prompt));
    if (!client.agentCapabilities.promptCapabilities?.image) return refused(test, turn);
    const { text } = await test.within(turn(), 'the turn');
    if (!text.includes(HELLO)) return fail(`the answer was ${JSON.stringify(text.slice(0, 120))}`);
    return test.model.requests.some(({ picture: held }) => held) ? ok() : fail('the image did not reach the model');
  },
};
