'use strict';

/** Text of an agent made fit to show. The rules are the native side's; here is only what other types become. */

const binding = require('../../binding.js');

/** UTF-16 code units. */
const DEFAULT_IDENTIFIER_MAX = 256;
const TRUNCATION_MARKER = '…[truncated]';
const UINT32_MAX = 2 ** 32 - 1;

/**
 * A limit as the native side takes it. What is no number, or not positive, allows nothing.
 *
 * @param {unknown} max
 * @returns {number}
 */
function limit(max) {
  return typeof max === 'number' && max > 0 ? Math.min(Math.floor(max), UINT32_MAX) : 0;
}

/**
 * @param {unknown} text
 * @returns {string}
 */
function stripControlSequences(text) {
  return typeof text === 'string' ? binding.stripControlSequences(text) : '';
}

/**
 * @param {unknown} text
 * @param {number} max
 * @returns {string}
 */
function boundString(text, max) {
  return typeof text === 'string' ? binding.boundString(text, limit(max)) : '';
}

/**
 * @param {unknown} id
 * @param {number} [max]
 * @returns {string}
 */
function boundIdentifier(id, max = DEFAULT_IDENTIFIER_MAX) {
  return typeof id === 'string' ? binding.boundIdentifier(id, limit(max)) : '';
}

/**
 * @param {unknown} text
 * @returns {string}
 */
function redactSecrets(text) {
  return typeof text === 'string' ? binding.redactSecrets(text) : '';
}

module.exports = {
  DEFAULT_IDENTIFIER_MAX, TRUNCATION_MARKER, limit, stripControlSequences, boundString, boundIdentifier, redactSecrets,
};
