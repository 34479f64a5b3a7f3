'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const { steps } = require('../../lib/default-agent/steps');
const { parseWords, words } = require('../../lib/default-agent/words');

/** Words that shape the turn as a whole instead of being a step of it. */
const SHAPING = ['thought', 'plan', 'tool', 'plain', 'json', 'verdict'];

test('every word does something, and every step has its word', () => {
  const named = words().map(({ word }) => word);
  assert.deepEqual([...Object.keys(steps).filter((name) => name !== 'count'), ...SHAPING].sort(), [...named].sort());
});

test('every word is in its page of the documentation', () => {
  const page = fs.readFileSync(path.join(__dirname, '..', '..', 'docs', 'default-agent.md'), 'utf8');
  const documented = [...page.matchAll(/^\| `\[([a-z_]+)(?::([^\]]+))?\]` \| (.+) \|$/gm)];
  assert.deepEqual(
    documented.map(([, word, argument, description]) => ({ word, ...(argument && { argument: argument.replaceAll('\\|', '|') }), description })),
    words(),
  );
});

test('finds words in any case, with and without an argument', () => {
  assert.deepEqual(parseWords('a [JSON] b [slow: 50 ] c'), {
    found: [{ word: 'json', argument: '' }, { word: 'slow', argument: '50' }],
    rest: 'a b c',
  });
  assert.deepEqual(parseWords('/json'), { found: [{ word: 'json', argument: '' }], rest: '' });
  assert.deepEqual(parseWords('/jsonx [constructor] [json'), { found: [], rest: '/jsonx [constructor] [json' });
});
