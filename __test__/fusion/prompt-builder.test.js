'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { buildPromptBlocks, extractPromptImagesFromOptions } = require('../..');

const image = { data: 'QUFB', mimeType: 'image/png' };

describe('buildPromptBlocks', () => {
  it('keeps the text as it is, and omits what is only whitespace', () => {
    assert.deepEqual(buildPromptBlocks('  hello '), [{ type: 'text', text: '  hello ' }]);
    assert.deepEqual(buildPromptBlocks(' \t\n '), []);
    assert.deepEqual(buildPromptBlocks(''), []);
  });

  it('puts images after the text, with a uri only where one was given', () => {
    assert.deepEqual(buildPromptBlocks('look', { images: [image, { ...image, uri: 'file:///a.png' }] }), [
      { type: 'text', text: 'look' },
      { type: 'image', ...image },
      { type: 'image', ...image, uri: 'file:///a.png' },
    ]);
    assert.ok(!('uri' in buildPromptBlocks('', { images: [image] })[0]));
  });
});

describe('extractPromptImagesFromOptions', () => {
  it('drops the malformed', () => {
    assert.deepEqual(extractPromptImagesFromOptions({ images: [image, null, { data: 'x' }, { mimeType: 'y' }, 7] }), [image]);
  });

  it('makes a file URI of a path, and prefers a uri', () => {
    assert.deepEqual(extractPromptImagesFromOptions({ images: [{ ...image, path: '/tmp/a.png' }] }), [
      { ...image, uri: 'file:///tmp/a.png' },
    ]);
    assert.equal(extractPromptImagesFromOptions({ images: [{ ...image, path: '/x', uri: 'file:///y' }] })?.[0].uri, 'file:///y');
  });

  it('is undefined for none', () => {
    for (const options of [undefined, null, {}, { images: [] }, { images: 'x' }, { images: [{}] }]) {
      assert.equal(extractPromptImagesFromOptions(options), undefined);
    }
  });
});
