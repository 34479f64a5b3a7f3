'use strict';

/**
 * A word that steers the agent, written in square brackets in the prompt: `[json]`, `[slow:50]`.
 *
 * @typedef {object} Word
 * @property {string} word
 * @property {string} [argument] What may follow the colon.
 * @property {string} description
 */

/** @type {readonly Word[]} */
const WORDS = Object.freeze([
  { word: 'thought', description: 'Only thoughts, then the answer.' },
  { word: 'plan', description: 'Only a plan, then the answer.' },
  { word: 'tool', description: 'Only a tool call, then the answer.' },
  { word: 'plain', description: 'The answer and nothing else.' },
  { word: 'json', description: 'A JSON object at the end of the answer.' },
  { word: 'verdict', argument: 'pass|fail|blocked', description: 'A validator verdict as JSON at the end.' },
  { word: 'permission', description: 'Asks for permission for a tool call that does nothing.' },
  { word: 'read', argument: 'path', description: 'Reads a file through the client.' },
  { word: 'write', argument: 'path', description: 'Writes a short file through the client, after asking.' },
  { word: 'terminal', argument: 'command', description: 'Runs a command in a terminal of the client, after asking.' },
  { word: 'ask', description: 'Asks the user for a name with a form.' },
  { word: 'slow', argument: 'milliseconds', description: 'Fifty chunks with a pause before each, 100 ms by default.' },
  { word: 'flood', argument: 'count', description: 'Many small chunks as fast as the client reads, 1000 by default.' },
  { word: 'hang', description: 'Says one sentence, then nothing until the turn is cancelled.' },
  { word: 'refuse', description: 'Ends with the stop reason refusal.' },
  { word: 'max_tokens', description: 'Ends with the stop reason max_tokens.' },
  { word: 'max_turn_requests', description: 'Ends with the stop reason max_turn_requests.' },
  { word: 'fail', description: 'Answers the prompt with an error, after some text.' },
  { word: 'auth', description: 'Answers the prompt with the error that asks for authentication.' },
  { word: 'crash', description: 'The process ends with exit code 3, after some text.' },
]);

const KNOWN = new Set(WORDS.map(({ word }) => word));

/** Every word there is. */
function words() {
  return WORDS;
}

/**
 * Takes the steering words out of a prompt: those in brackets, and one as a slash command at its start. Brackets around anything else stay where they are.
 *
 * @param {string} text
 * @returns {{ found: { word: string, argument: string }[], rest: string }}
 */
function parseWords(text) {
  /** @type {{ word: string, argument: string }[]} */
  const found = [];
  const named = /^\s*\/([a-z_]{1,20})(?!\S)/i.exec(text);
  const command = named?.[1].toLowerCase() ?? '';
  const body = named && KNOWN.has(command) ? text.slice(named[0].length) : text;
  if (body !== text) found.push({ word: command, argument: '' });
  const rest = body.replace(/\[([a-z_]{1,20})(?::([^[\]\n]{0,500}))?\] ?/gi, (whole, name, argument = '') => {
    const word = name.toLowerCase();
    if (!KNOWN.has(word)) return whole;
    found.push({ word, argument: argument.trim() });
    return '';
  });
  return { found, rest: rest.trim() };
}

module.exports = { words, parseWords };
