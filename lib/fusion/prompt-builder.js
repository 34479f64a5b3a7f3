'use strict';

/** A prompt as content blocks: the text, unless it is only whitespace, then the images. */

const { pathToFileURL } = require('node:url');
const { isObject } = require('./tool-mapping.js');

/**
 * @typedef {import('../../types/fusion').PromptImage} PromptImage
 * @typedef {import('../../protocol').ContentBlock} ContentBlock
 */

/**
 * @param {unknown} image
 * @returns {PromptImage | undefined}
 */
function promptImage(image) {
  if (!isObject(image) || typeof image.data !== 'string' || typeof image.mimeType !== 'string') return undefined;
  if (image.data === '' || image.mimeType === '') return undefined;
  const uri = uriOf(image);
  return { data: image.data, mimeType: image.mimeType, ...(uri === undefined ? {} : { uri }) };
}

/**
 * @param {Record<string, any>} image
 * @returns {string | undefined}
 */
function uriOf({ uri, path }) {
  if (typeof uri === 'string' && uri !== '') return uri;
  if (typeof path !== 'string' || path === '') return undefined;
  // Spaces and the like do not belong in a URI; an ordinary path comes out as it always did.
  return path.startsWith('/') ? pathToFileURL(path).href : `file://${path}`;
}

/**
 * @param {unknown} options
 * @returns {PromptImage[] | undefined}
 */
function extractPromptImagesFromOptions(options) {
  if (!isObject(options) || !Array.isArray(options.images)) return undefined;
  const images = options.images.flatMap((image) => promptImage(image) ?? []);
  return images.length > 0 ? images : undefined;
}

/**
 * @param {string} prompt
 * @param {import('../../types/fusion').BuildPromptOptions} [options]
 * @returns {ContentBlock[]}
 */
function buildPromptBlocks(prompt, options = {}) {
  /** @type {ContentBlock[]} */
  const blocks = [];
  if (typeof prompt === 'string' && prompt.trim() !== '') blocks.push({ type: 'text', text: prompt });
  for (const { data, mimeType, uri } of options.images ?? []) {
    blocks.push({ type: 'image', data, mimeType, ...(uri === undefined ? {} : { uri }) });
  }
  return blocks;
}

module.exports = { buildPromptBlocks, extractPromptImagesFromOptions };
