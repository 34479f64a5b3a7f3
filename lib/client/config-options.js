'use strict';

const { AcpError } = require('../errors.js');

/** @typedef {import('../../protocol').SessionConfigOption} SessionConfigOption */

/** @param {string} message */
function invalid(message) {
  return new AcpError('invalid_argument', message, { phase: 'session' });
}

/**
 * The values that a select offers, groups or not.
 *
 * @param {any} option
 * @returns {string[]}
 */
function offered(option) {
  const list = Array.isArray(option.options) ? option.options : [];
  return list.flatMap((/** @type {any} */ item) => (Array.isArray(item?.options) ? item.options : [item]))
    .map((/** @type {any} */ item) => item?.value);
}

/**
 * The parameters that set an option, once it is known that the session offers the value.
 *
 * @param {SessionConfigOption[]} options
 * @param {string} configId
 * @param {unknown} value
 */
function setting(options, configId, value) {
  const option = /** @type {any} */ (options.find(({ id }) => id === configId));
  if (option === undefined) throw invalid('the session has no configuration option of that id');
  const boolean = typeof value === 'boolean';
  if (!boolean && typeof value !== 'string') throw invalid('a value is a string, or true or false');
  if (option.type === 'boolean' && !boolean) throw invalid('the option is true or false');
  if (option.type === 'select' && (boolean || !offered(option).includes(/** @type {string} */ (value)))) {
    throw invalid('the option does not offer that value');
  }
  return boolean ? { configId, type: /** @type {const} */ ('boolean'), value } : { configId, value };
}

/**
 * The id of the option of a category; of several, the first that offers the value. Categories are optional, and some
 * agents give none: then the option whose id is the category's name counts.
 *
 * @param {SessionConfigOption[] | undefined} options
 * @param {string} category
 * @param {unknown} value
 * @returns {string | undefined}
 */
function optionOfCategory(options, category, value) {
  const found = (options ?? []).filter((option) => option.category === category);
  const best = found.find((option) => option.type === 'select' && offered(option).includes(String(value))) ?? found[0];
  return (best ?? (options ?? []).find(({ id, category: given }) => id === category && (given ?? null) === null))?.id;
}

/**
 * Values for a session to start with, in the protocol's shape. What a new session offers is not known yet, so the agent
 * checks them.
 *
 * @param {Record<string, string | boolean> | undefined} values
 */
function initial(values) {
  if (values === undefined || values === null) return undefined;
  return Object.entries(values).map(([configId, value]) =>
    typeof value === 'boolean' ? { configId, type: 'boolean', value } : { configId, value },
  );
}

module.exports = { setting, optionOfCategory, initial };
