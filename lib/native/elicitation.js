'use strict';

const binding = require('../../binding.js');

/**
 * What is wrong with these values for this form.
 *
 * @param {unknown} schema `requestedSchema`, as the agent sent it
 * @param {unknown} content
 * @returns {Array<{ property: string, message: string }>}
 */
function elicitationProblems(schema, content) {
  return JSON.parse(binding.elicitationProblems(JSON.stringify(schema), JSON.stringify(content ?? null)));
}

module.exports = { elicitationProblems };
