'use strict';

/** The model and the thinking level: chosen through what the agent offers in the session, its config options or modes. */

const { isObject } = require('./tool-mapping.js');

/** Milliseconds for one such call. */
const SELECT_TIMEOUT_MS = 30_000;

/**
 * The values of a select option, groups opened.
 *
 * @param {any} option
 * @returns {{ value: string, name?: string }[]}
 */
function valuesOf(option) {
  const items = Array.isArray(option.options) ? option.options.filter(isObject) : [];
  return items
    .flatMap((/** @type {any} */ item) => (Array.isArray(item.options) ? item.options.filter(isObject) : [item]))
    .filter((/** @type {any} */ item) => typeof item.value === 'string');
}

/**
 * The offered value that a caller's word means: the same, or the same but for case, or as the last part of a path
 * (`provider/model`) when only one ends so.
 *
 * @param {{ value: string, name?: string }[]} values
 * @param {string} wanted
 * @returns {string | undefined}
 */
function matchValue(values, wanted) {
  const lower = wanted.toLowerCase();
  const same = values.find(({ value }) => value === wanted)
    ?? values.find(({ value, name }) => value.toLowerCase() === lower || name?.toLowerCase() === lower);
  if (same) return same.value;
  const ending = values.filter(({ value }) => value.toLowerCase().endsWith(`/${lower}`));
  return ending.length === 1 ? ending[0].value : undefined;
}

/**
 * Sets a config option of a category to a wanted value, where the agent offers both.
 *
 * @param {import('../native/client').Session} session
 * @param {'model' | 'thought_level'} category
 * @param {string} wanted
 * @returns {Promise<boolean>} whether the agent now has that value
 */
async function selectOption(session, category, wanted) {
  const offered = Array.isArray(session.result?.configOptions) ? session.result.configOptions.filter(isObject) : [];
  const option = offered.find((/** @type {any} */ candidate) => candidate.category === category && candidate.type === 'select');
  const value = option === undefined ? undefined : matchValue(valuesOf(option), wanted);
  if (value === undefined) return false;
  if (option.currentValue === value) return true;
  const params = { sessionId: session.id, configId: option.id, value };
  const result = await session.client.call('session/set_config_option', params, { timeoutMs: SELECT_TIMEOUT_MS });
  // One option may change the others.
  if (Array.isArray(result?.configOptions)) session.result.configOptions = result.configOptions;
  return true;
}

/**
 * Switches to a mode that is called like the thinking level, for agents that have no option for it.
 *
 * @param {import('../native/client').Session} session
 * @param {string} wanted
 * @returns {Promise<boolean>}
 */
async function selectMode(session, wanted) {
  const modes = session.result?.modes;
  const available = Array.isArray(modes?.availableModes) ? modes.availableModes.filter(isObject) : [];
  const mode = available.find((/** @type {any} */ candidate) => candidate.id === wanted);
  if (mode === undefined) return false;
  if (modes.currentModeId === wanted) return true;
  const params = { sessionId: session.id, modeId: wanted };
  await session.client.call('session/set_mode', params, { timeoutMs: SELECT_TIMEOUT_MS });
  return true;
}

/**
 * @param {import('../native/client').Session} session
 * @param {{ model?: string, thinkingLevel?: string }} wanted
 * @returns {Promise<string[]>} what could not be had, for the session's notices
 */
async function applySelection(session, { model, thinkingLevel }) {
  /** @type {string[]} */
  const notices = [];
  /** @param {string} what @param {() => Promise<boolean>} select */
  const attempt = async (what, select) => {
    try {
      if (!(await select())) notices.push(`${what} is not offered by the agent`);
    } catch (error) {
      notices.push(`${what} was refused by the agent: ${error instanceof Error ? error.message : error}`);
    }
  };
  if (model !== undefined) await attempt(`model ${model}`, () => selectOption(session, 'model', model));
  if (thinkingLevel !== undefined) {
    await attempt(`thinking level ${thinkingLevel}`, async () => {
      return (await selectOption(session, 'thought_level', thinkingLevel)) || selectMode(session, thinkingLevel);
    });
  }
  return notices;
}

module.exports = { applySelection, matchValue };
