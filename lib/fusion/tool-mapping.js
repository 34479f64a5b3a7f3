'use strict';

const binding = require('../../binding.js');

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @param {unknown} value
 * @returns {string | undefined}
 */
function stringOrAbsent(value) {
  return typeof value === 'string' ? value : undefined;
}

/**
 * @param {{ title?: string | null, kind?: string | null }} tool
 * @returns {string}
 */
function toolDisplayName(tool) {
  return binding.toolDisplayName(stringOrAbsent(tool?.title), stringOrAbsent(tool?.kind));
}

/**
 * @param {unknown} args
 * @returns {Record<string, unknown>}
 */
function normalizeToolArgs(args) {
  return isObject(args) ? args : {};
}

module.exports = { isObject, stringOrAbsent, toolDisplayName, normalizeToolArgs };
