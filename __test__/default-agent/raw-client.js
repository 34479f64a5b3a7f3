'use strict';

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');

const { defaultAgentPath } = require('../../lib/default-agent');

/** A client that speaks raw JSON-RPC to the demo agent and keeps everything it said, in order. */
class RawClient {
  /** @param {string[]} [args] @param {string} [script] */
  constructor(args = [], script = defaultAgentPath()) {
    this.child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    /** @type {any[]} */
    this.messages = [];
    this.nextId = 1;
    /** @type {Map<any, (message: any) => void>} */
    this.waiting = new Map();
    /** @type {Set<() => void>} */
    this.watchers = new Set();
    /** @type {Record<string, (params: any) => any>} Answers to the agent's requests. */
    this.handlers = {};
    this.stderr = '';
    this.exited = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
    this.child.stderr.on('data', (part) => {
      this.stderr += part;
    });
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => this.take(JSON.parse(line)));
  }

  /** @param {any} message */
  take(message) {
    this.messages.push(message);
    if (message.method === undefined) this.waiting.get(message.id)?.(message);
    else if (message.id !== undefined && this.handlers[message.method]) {
      const answer = this.handlers[message.method](message.params);
      const body = answer?.error ? { error: answer.error } : { result: answer };
      this.send({ jsonrpc: '2.0', id: message.id, ...body });
    }
    for (const watch of this.watchers) watch();
  }

  /** @param {object | string} message A string goes out as it is. */
  send(message) {
    this.child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  }

  /**
   * Sends a request; resolves with the whole response.
   *
   * @param {string} method
   * @param {object} [params]
   * @param {any} [id]
   * @returns {Promise<any>}
   */
  request(method, params, id = this.nextId++) {
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  /** @param {string} method @param {object} [params] */
  notify(method, params) {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Resolves with the first message, already here or still to come, that the test accepts. @param {(m: any) => any} test */
  async until(test) {
    for (;;) {
      const found = this.messages.find(test);
      if (found) return found;
      await new Promise((resolve) => {
        const watch = () => {
          this.watchers.delete(watch);
          resolve(undefined);
        };
        this.watchers.add(watch);
      });
    }
  }

  /** @param {object} [clientCapabilities] */
  async initialize(clientCapabilities = {}) {
    return (await this.request('initialize', { protocolVersion: 1, clientCapabilities })).result;
  }

  /** A ready session. @param {object} [clientCapabilities] @param {object} [params] @returns {Promise<string>} */
  async session(clientCapabilities, params) {
    await this.initialize(clientCapabilities);
    const cwd = process.cwd();
    return (await this.request('session/new', { cwd, mcpServers: [], ...params })).result.sessionId;
  }

  /** @param {string} sessionId @param {string | object[]} prompt @returns {Promise<any>} */
  prompt(sessionId, prompt) {
    const blocks = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt;
    return this.request('session/prompt', { sessionId, prompt: blocks });
  }

  /** Every update so far, of one kind if named. @param {string} [kind] */
  updates(kind) {
    const all = this.messages.filter(({ method }) => method === 'session/update').map(({ params }) => params.update);
    return kind ? all.filter(({ sessionUpdate }) => sessionUpdate === kind) : all;
  }

  /** The agent's answer text so far. */
  text() {
    return this.updates('agent_message_chunk').map(({ content }) => content.text).join('');
  }

  /** Closes the agent's input; resolves with how it ended. */
  async end() {
    this.child.stdin.end();
    return this.exited;
  }
}

/**
 * Runs a test with a client and ends the agent afterwards, whatever happened.
 *
 * @param {(client: RawClient) => Promise<void>} body
 * @param {string[]} [args]
 */
const withAgent = (body, args) => async () => {
  const client = new RawClient(args);
  try {
    await body(client);
  } finally {
    client.child.stdin.destroy();
    client.child.kill('SIGKILL');
    await client.exited;
  }
};

module.exports = { RawClient, withAgent };
