'use strict';

/**
 * Takes terminal control out of the strings of a value that the agent sent as JSON. Updates are cleaned where they are
 * read; this is for everything else that a host may show.
 */

const { stripControlSequences } = require('../binding.js');

/** Control characters in a string. */
const SUSPECT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/**
 * Members that are data for programs, as the agent gave them: of tools, of extensions, of the command of a sign-in method. Those
 * of updates are named in Rust; a test compares.
 */
const DATA = new Set(['rawInput', 'rawOutput', '_meta', 'args', 'env']);

/**
 * Cleans a value in place. Without recursion: the agent decides how deep it is.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
function clean(value) {
  if (typeof value === 'string') return /** @type {any} */ (strip(value));
  /** @type {any[]} */
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === null || typeof next !== 'object') continue;
    for (const key of Object.keys(next)) {
      const member = next[key];
      if (typeof member === 'string') {
        if (SUSPECT.test(member) && !DATA.has(key)) next[key] = strip(member);
      } else if (!DATA.has(key)) {
        open.push(member);
      }
    }
  }
  return value;
}

/** Control characters, and those that turn the direction of what follows: whoever reads a line with them reads another. */
const HIDING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A value for a person who is to judge it, in place: what would hide a part of it is shown as its code. Nothing is left out,
 * as it is elsewhere: a command that says nothing to a terminal says something to a shell.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
function visible(value) {
  /** @type {any[]} */
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === null || typeof next !== 'object') continue;
    for (const key of Object.keys(next)) {
      if (typeof next[key] === 'string') next[key] = next[key].replace(HIDING, coded);
      else if (key !== '_meta') open.push(next[key]);
    }
  }
  return value;
}

/** @param {string} character */
const coded = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** @param {string} text */
const strip = (text) => (SUSPECT.test(text) ? stripControlSequences(text) : text);

module.exports = { clean, visible };
