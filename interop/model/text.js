'use strict';

/**
 * The text of an answer that is not streamed.
 *
 * @param {import('./steer.js').TextAnswer} answer
 */
async function joined(answer) {
  let text = '';
  for await (const piece of answer.pieces()) text += piece;
  return text;
}

module.exports = { joined };
