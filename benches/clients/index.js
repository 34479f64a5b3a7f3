'use strict';

/**
 * What a measured client gives the worker. One file per client; each is loaded in a process of its own.
 *
 * @typedef {{ command: string, args: string[] }} AgentCommand
 * @typedef {object} Handlers
 * @property {(text: string) => void} onText
 * @property {(text: string) => void} onThinking
 * @property {(name: string, args?: unknown) => void} onToolStart
 * @property {(name: string, isError: boolean, result?: unknown) => void} onToolEnd
 * @property {() => void} onOther Updates that the Fusion-shaped API has no callback for.
 * @typedef {object} OpenSession
 * @property {() => Promise<unknown>} prompt Sends one prompt; resolves with the response to it.
 * @property {() => Promise<void> | void} close Ends the agent.
 * @typedef {(agent: AgentCommand, handlers: Handlers) => Promise<OpenSession>} Open Starts an agent and a session.
 * @typedef {{ open: Open, ask?: (agent: AgentCommand) => Promise<unknown> }} Client
 */

/** Clients by name, in the order of the table's columns. `floor` is a program of its own and not listed. */
const clients = {
  ours: './ours.js',
  'ours, typed': './ours-typed.js',
  node: './node.js',
  'sdk 0.24': './sdk-0.24.js',
  'sdk 2.4': './sdk-2.4.js',
  incumbent: './incumbent.js',
};

/**
 * Loads one client. Loading is not part of any measured time but P9's own.
 *
 * @param {string} name
 * @returns {Promise<Client>}
 */
async function load(name) {
  const file = clients[/** @type {keyof typeof clients} */ (name)];
  if (!file) throw new Error(`no client named ${name}`);
  return require(file).load();
}

module.exports = { clients, load };
