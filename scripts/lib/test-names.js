'use strict';

/**
 * The tests of the repository by their names, and which rules they show.
 *
 * @typedef {{ name: string, file: string, rules: number[] }} Test `file` is relative to the root.
 */

const fs = require('node:fs');
const path = require('node:path');

const { filesBelow, root } = require('../common');

/** A function right after a test attribute, with other attributes and comments in between; or a function inside `proptest!`. */
const RUST = /#\[(?:tokio::)?test(?:\([^\]]*\))?\]\s*(?:(?:#\[[^\]]*\]|\/\/[^\n]*)\s*)*(?:async\s+)?fn\s+(\w+)/g;
const JS = /^\s*(?:test|it)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm;

/** @param {string} name @returns {number[]} The rules whose numbers are in a test's name. */
function rulesOf(name) {
  return [...name.matchAll(/(?:^|_)c(\d{2})(?=_)/g)].map(([, number]) => Number(number));
}

/** @returns {Test[]} In the order of files and of their lines. */
function tests() {
  const sources = [
    ...filesBelow(path.join(root, 'crates'), (file) => file.endsWith('.rs')).map((file) => ({ file, pattern: RUST, group: 1 })),
    ...filesBelow(path.join(root, '__test__'), (file) => file.endsWith('.test.js')).map((file) => ({ file, pattern: JS, group: 2 })),
  ];
  return sources.flatMap(({ file, pattern, group }) => {
    const source = fs.readFileSync(file, 'utf8');
    const relative = path.relative(root, file).split(path.sep).join('/');
    return [...source.matchAll(pattern)].map((match) => ({ name: match[group], file: relative, rules: rulesOf(match[group]) }));
  });
}

module.exports = { rulesOf, tests };
