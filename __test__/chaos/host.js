'use strict';

// What the hosts of both interfaces share.

const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { textOf } = require('./plan.js');

const AGENT = path.join(__dirname, 'agent.js');
/** Milliseconds that sessions have for themselves: a turn without a limit may wait for ever for an agent that never answers. */
const LONGEST = 2000;

/**
 * A handler that answers at once, late, never, or throws.
 *
 * @param {import('./random').Random} random
 * @param {unknown[]} answers
 * @returns {(...args: any[]) => any}
 */
function handler(random, answers) {
  return () => {
    const answer = random.pick(answers);
    switch (random.int(0, 9)) {
      case 0:
        throw new Error('a handler threw');
      case 1:
        return Promise.reject(new Error('a handler rejected'));
      case 2:
        return new Promise(() => {});
      case 3:
        return sleep(random.int(0, 50), answer);
      default:
        return answer;
    }
  };
}

/** The pieces of a text that a turn numbered. What others said too late may stand between them. @param {string} text @param {string} tag */
function pieces(text, tag) {
  return [...text.matchAll(new RegExp(`${tag}:\\d+ `, 'g'))].map(([piece]) => piece).join('');
}

/**
 * A turn that failed still tells what had arrived.
 *
 * @param {import('./ledger').Ledger} ledger
 * @param {any} error
 * @param {import('./plan').Script} script
 */
function checkFailure(ledger, error, script) {
  const { leaves, tag } = script;
  const text = textOf(script);
  const own = pieces(error.partialText ?? '', tag);
  if (!text.startsWith(own)) ledger.violation(`${tag}: partial text out of order: ${own.slice(0, 200)}`);
  if (leaves === undefined || error.code !== 'agent_exited' || error.exit?.exitCode !== leaves.code) return;
  // It came to its end: nobody else would have made the agent leave with this code.
  if (error.phase !== 'prompt') ledger.violation(`${tag}: agent_exited in phase ${error.phase}`);
  if (own !== text) ledger.violation(`${tag}: ${own.length} of ${text.length} units of text of an agent that left`);
  if (leaves.words !== undefined && !error.stderrTail?.includes(leaves.words)) {
    ledger.violation(`${tag}: its last words on stderr are lost`);
  }
}

module.exports = { AGENT, LONGEST, checkFailure, handler, pieces };
