'use strict';

const { UsageError } = require('./exit-codes');

/**
 * Splits a command line into a program and its arguments, as a shell would where there is nothing to expand: blanks
 * separate, quotes hold together, and no shell is ever started. A backslash escapes the next character outside quotes,
 * and a quote or backslash inside double quotes. On Windows it only escapes a double quote, so that paths stay whole.
 *
 * @param {string} line
 * @param {string} [platform] As `process.platform` names it.
 * @returns {[string, ...string[]]}
 */
function splitCommandLine(line, platform = process.platform) {
  const windows = platform === 'win32';
  /** @type {string[]} */
  const words = [];
  let word = '';
  // An empty pair of quotes is a word too, so a word's text does not tell whether there is one.
  let inWord = false;
  let quote = '';

  for (let at = 0; at < line.length; at++) {
    const character = line[at];
    const next = line[at + 1];
    if (character === '\\' && quote !== "'" && next !== undefined && escapes(next, quote, windows)) {
      word += next;
      inWord = true;
      at++;
    } else if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === '"' || (character === "'" && !windows)) {
      quote = character;
      inWord = true;
    } else if (/\s/.test(character)) {
      if (inWord) words.push(word);
      word = '';
      inWord = false;
    } else {
      word += character;
      inWord = true;
    }
  }
  if (quote !== '') throw new UsageError(`The command line has a ${quote} that is not closed: ${line}`);
  if (inWord) words.push(word);
  const [command, ...args] = words;
  if (!command) throw new UsageError('The command line names no program.');
  return [command, ...args];
}

/**
 * @param {string} next The character after a backslash.
 * @param {string} quote
 * @param {boolean} windows
 */
function escapes(next, quote, windows) {
  if (windows) return next === '"';
  return quote === '' || next === '"' || next === '\\';
}

module.exports = { splitCommandLine };
