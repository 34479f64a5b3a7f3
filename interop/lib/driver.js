'use strict';

/** The few places where the kit must know the names of the package it drives. */

const path = require('node:path');

/**
 * @param {string} [file] another client with the same names; the package itself when absent
 * @returns {{ api: any, path: string, name: string, version: string }}
 */
function loadClient(file) {
  const where = file ? path.resolve(file) : path.join(__dirname, '..', '..');
  const api = require(where);
  const about = file ? { name: path.basename(file, '.js'), version: '' } : require('../../package.json');
  return { api, path: where, name: about.name, version: about.version };
}

/**
 * An answer to a permission request.
 *
 * @param {'allow' | 'deny'} decision
 * @param {any} request
 */
function decide(decision, request) {
  const kind = decision === 'allow' ? 'allow_once' : 'reject_once';
  const option = request.options?.find((/** @type {any} */ each) => each.kind === kind);
  return option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' };
}

/**
 * @param {any} session
 * @param {Record<string, any>[]} steps
 */
async function takeSteps(session, steps) {
  for (const step of steps) {
    for (const [name, value] of Object.entries(step)) await session[name](...[value].flat());
  }
}

/**
 * The text of a session event, or undefined when it is not a piece of the agent's answer.
 *
 * @param {any} event
 * @returns {string | undefined}
 */
function answerText(event) {
  if (event.type !== 'agent_message_chunk') return undefined;
  return event.text ?? event.content?.text;
}

module.exports = { answerText, decide, loadClient, takeSteps };
