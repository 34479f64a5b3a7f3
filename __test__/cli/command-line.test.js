'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { splitCommandLine } = require('../../lib/cli/command-line');

for (const [line, words] of [
  ['gemini --acp', ['gemini', '--acp']],
  ['  a \t b\nc  ', ['a', 'b', 'c']],
  ['"/opt/my agent/run" --flag', ['/opt/my agent/run', '--flag']],
  ["a 'b c' \"d e\"", ['a', 'b c', 'd e']],
  ['a --x="1 2"\'3 4\'', ['a', '--x=1 23 4']],
  ['a "" \'\'', ['a', '', '']],
  ['a b\\ c \\"d\\"', ['a', 'b c', '"d"']],
  ['a "b \\"c\\" \\\\ \\d"', ['a', 'b "c" \\ \\d']],
  ["a 'b\\'", ['a', 'b\\']],
  ['a $HOME `b` ; c | d > e && f * ~', ['a', '$HOME', '`b`', ';', 'c', '|', 'd', '>', 'e', '&&', 'f', '*', '~']],
  ['a\\', ['a\\']],
]) {
  test(`splits ${JSON.stringify(line)}`, () => {
    assert.deepEqual(splitCommandLine(/** @type {string} */ (line), 'linux'), words);
  });
}

test('leaves Windows paths whole', () => {
  assert.deepEqual(splitCommandLine('"C:\\Program Files\\a.exe" \\\\host\\share C:\\b\\ \\"x\\" it\'s', 'win32'), [
    'C:\\Program Files\\a.exe', '\\\\host\\share', 'C:\\b\\', '"x"', "it's",
  ]);
});

for (const line of ['', '   ', '"" a', "'a", 'a "b', 'a "b\\"']) {
  test(`refuses ${JSON.stringify(line)}`, () => {
    assert.throws(() => splitCommandLine(line, 'linux'), { name: 'UsageError' });
  });
}

test('takes back apart whatever was quoted, in linear time', () => {
  const alphabet = ['a', ' ', '\t', '\n', '"', "'", '\\', '$', 'é', '👍'];
  let seed = 1;
  const random = (/** @type {number} */ below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 500; round++) {
    const words = Array.from({ length: 1 + random(5) }, (_, index) =>
      Array.from({ length: random(8) + (index === 0 ? 1 : 0) }, () => alphabet[random(alphabet.length)]).join(''),
    );
    const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    assert.deepEqual(splitCommandLine(quoted, 'linux'), words);
  }
  assert.equal(splitCommandLine(`a ${'b '.repeat(200_000)}`, 'linux').length, 200_001);
});
