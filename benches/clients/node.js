'use strict';

const { spawn } = require('node:child_process');
const { dispatch } = require('./dispatch');

/**
 * Node alone: `stdout.on('data')`, split at newlines, `JSON.parse`. No checks, no limits, no protocol to speak of.
 *
 * @returns {import('./index').Client}
 */
function load() {
  return { open, ask };
}

/** @type {import('./index').Open} */
async function open(agent, handlers) {
  const wire = connect(agent, handlers);
  await wire.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await wire.request('session/new', { cwd: process.cwd(), mcpServers: [] });
  return {
    prompt: () => wire.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }),
    close: wire.close,
  };
}

/**
 * The least that any caller must pay to reach an agent: spawn, `initialize`, `session/new`, end its input, see it exit.
 * No prompt, which is what P8 takes as the time that an ask may add to.
 *
 * @param {import('./index').AgentCommand} agent
 */
async function ask(agent) {
  const session = await open(agent, { onText() {}, onThinking() {}, onToolStart() {}, onToolEnd() {}, onOther() {} });
  await session.close();
}

/**
 * @param {import('./index').AgentCommand} agent
 * @param {import('./index').Handlers} handlers
 */
function connect(agent, handlers) {
  const child = spawn(agent.command, agent.args, { stdio: ['pipe', 'pipe', 'ignore'] });
  /** @type {Map<number, (result: any) => void>} */
  const pending = new Map();
  let rest = '';
  let next = 1;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (/** @type {string} */ data) => {
    const newline = data.indexOf('\n');
    if (newline < 0) {
      rest += data;
      return;
    }
    let start = newline + 1;
    take(rest + data.slice(0, newline));
    for (let end = data.indexOf('\n', start); end >= 0; end = data.indexOf('\n', start)) {
      take(data.slice(start, end));
      start = end + 1;
    }
    rest = data.slice(start);
  });

  /** @param {string} line */
  function take(line) {
    const message = JSON.parse(line);
    if (message.method === 'session/update') {
      const { update } = message.params;
      dispatch(update, update.sessionUpdate, handlers);
    } else {
      pending.get(message.id)?.(message.result);
      pending.delete(message.id);
    }
  }

  return {
    /**
     * @param {string} method
     * @param {object} params
     * @returns {Promise<any>}
     */
    request(method, params) {
      const id = next++;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return new Promise((resolve) => pending.set(id, resolve));
    },
    close() {
      /** @type {Promise<void>} */
      const exited = new Promise((resolve) => child.once('exit', () => resolve()));
      child.stdin.end();
      return exited;
    },
  };
}

module.exports = { load };
