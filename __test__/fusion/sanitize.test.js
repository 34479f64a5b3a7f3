'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const {
  DEFAULT_IDENTIFIER_MAX, TRUNCATION_MARKER, boundIdentifier, boundString, redactSecrets, stripControlSequences,
} = require('../..');

describe('stripControlSequences', () => {
  it('drops escape sequences and controls, keeps line feeds and tabs', () => {
    assert.equal(stripControlSequences('\u001b[31mred\u001b[0m text'), 'red text');
    assert.equal(stripControlSequences('before\u001b]0;title\u0007after'), 'beforeafter');
    assert.equal(stripControlSequences('a\u0000b\u007fc\u0085'), 'abc');
    assert.equal(stripControlSequences('line1\nline2\tend'), 'line1\nline2\tend');
  });

  it('makes an empty string of anything else', () => {
    for (const value of [undefined, null, 123, {}, []]) assert.equal(stripControlSequences(value), '');
  });

  it('survives lone surrogates', () => {
    assert.equal(stripControlSequences('a\ud800b').length, 3);
  });
});

describe('boundString', () => {
  it('counts UTF-16 code units, the marker included', () => {
    assert.equal(TRUNCATION_MARKER.length, 12);
    assert.equal(boundString('short', 100), 'short');
    const cut = boundString('x'.repeat(100), 50);
    assert.equal(cut.length, 50);
    assert.ok(cut.endsWith(TRUNCATION_MARKER));
    assert.ok(boundString('😀'.repeat(100), 51).length <= 51);
  });

  it('has room for no marker below its length', () => {
    assert.equal(boundString('abcdef', 3), 'abc');
  });

  it('allows nothing for a limit that is none', () => {
    for (const max of [0, -5, Number.NaN]) assert.equal(boundString('abc', max), '');
    assert.equal(boundString('abc', Infinity), 'abc');
    assert.equal(boundString(undefined, 10), '');
  });
});

describe('boundIdentifier', () => {
  it('leaves no path in an identifier', () => {
    assert.equal(boundIdentifier('../../etc/passwd'), '____etc_passwd');
    assert.equal(boundIdentifier('..'), '_');
    assert.equal(boundIdentifier('a...b'), 'a_b');
    assert.equal(boundIdentifier('a\\b'), 'a_b');
    assert.equal(boundIdentifier('sess-1234-abcd'), 'sess-1234-abcd');
  });

  it('is bounded', () => {
    assert.equal(boundIdentifier('x'.repeat(1000)).length, DEFAULT_IDENTIFIER_MAX);
    assert.equal(boundIdentifier('abcdefgh', 4), 'abcd');
    assert.equal(boundIdentifier(undefined), '');
  });
});

describe('redactSecrets', () => {
  it('masks what looks like a secret', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const redacted = redactSecrets(`token is ${token}, ok`);
    assert.ok(!redacted.includes(token));
    assert.match(redacted, /\[REDACTED\]/);
    assert.equal(redactSecrets('nothing here'), 'nothing here');
  });
});
