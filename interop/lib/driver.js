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
  return event.content?.text;
}

module.exports = { answerText, loadClient, takeSteps };
