'use strict';

/**
 * A tiny client with the package's names, for testing the kit itself and an agent's launch. It owns no process tree:
 * it ends the agent's process group and nothing else, so the checks that look for survivors fail with it, rightly.
 */

const { spawn } = require('node:child_process');
const readline = require('node:readline');

class AcpClient {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #pending = new Map();
  #nextId = 1;
  /** @type {Map<string, (update: any) => void>} */
  #listeners = new Map();
  #child;
  #options;
  /** @type {Promise<any>} */
  closed;

  /** @param {any} options */
  constructor(options) {
    const { command, args = [], cwd, env } = options;
    this.#options = options;
    this.#child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stderr.resume();
    this.#child.stdin.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.#child.on('error', (error) => this.#fail(error, resolve));
      this.#child.on('exit', (exitCode, signal) => {
        this.#fail(new Error(`agent exited with ${signal ?? exitCode}`), () => resolve({ exitCode, signal }));
      });
    });
    readline.createInterface({ input: this.#child.stdout }).on('line', (line) => this.#receive(line));
  }

  /** @param {any} options */
  static async launch(options) {
    const client = new AcpClient(options);
    try {
      const answer = await client.request('initialize', {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
        clientInfo: { name: 'interop-stand-in', version: '0.0.0' },
      });
      return Object.assign(client, { protocolVersion: answer.protocolVersion, agentInfo: answer.agentInfo });
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  get pid() {
    return this.#child.pid;
  }

  /** @param {any} o */
  async newSession({ cwd }) {
    const { sessionId } = await this.request('session/new', { cwd, mcpServers: [] });
    return new Session(this, sessionId);
  }

  /**
   * @param {string} method
   * @param {any} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  notify(method, params) {
    this.#send({ method, params });
  }

  /**
   * @param {string} sessionId
   * @param {(update: any) => void} listener
   */
  listen(sessionId, listener) {
    this.#listeners.set(sessionId, listener);
  }

  async close() {
    this.kill();
    return this.closed;
  }

  kill() {
    try {
      if (this.pid) process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }

  /** @param {any} message */
  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /**
   * @param {Error} error
   * @param {(value: any) => void} done
   */
  #fail(error, done) {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    done(undefined);
  }

  /** @param {string} line */
  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (message.method === 'session/update') {
      this.#listeners.get(message.params.sessionId)?.(message.params.update);
    } else if (message.method === 'session/request_permission') {
      const kind = this.#options.onPermission?.(message.params) === 'allow' ? 'allow_once' : 'reject_once';
      const option = message.params.options.find((/** @type {any} */ each) => each.kind === kind);
      const outcome = option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' };
      this.#send({ id: message.id, result: { outcome } });
    } else if (message.method && message.id !== undefined) {
      this.#send({ id: message.id, error: { code: -32601, message: 'Method not found' } });
    } else if (message.id !== undefined) {
      const waiting = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error) waiting?.reject(Object.assign(new Error(JSON.stringify(message.error)), message.error));
      else waiting?.resolve(message.result);
    }
  }
}

class Session {
  #client;

  /**
   * @param {AcpClient} client
   * @param {string} id
   */
  constructor(client, id) {
    this.#client = client;
    this.id = id;
  }

  /** @param {string} modeId */
  setMode(modeId) {
    return this.#client.request('session/set_mode', { sessionId: this.id, modeId });
  }

  /**
   * @param {string} configId
   * @param {any} value
   */
  setConfigOption(configId, value) {
    const type = typeof value === 'boolean' ? { type: 'boolean' } : {};
    return this.#client.request('session/set_config_option', { sessionId: this.id, configId, ...type, value });
  }

  /** @param {string} text */
  prompt(text) {
    return new Turn(this.#client, this.id, text);
  }
}

class Turn {
  /** @type {any[]} */
  #events = [];
  #over = false;
  #wake = () => {};
  #text = '';
  #client;
  #sessionId;
  /** @type {Promise<any>} */
  #result;

  /**
   * @param {AcpClient} client
   * @param {string} sessionId
   * @param {string} text
   */
  constructor(client, sessionId, text) {
    this.#client = client;
    this.#sessionId = sessionId;
    client.listen(sessionId, (update) => {
      const event = { type: update.sessionUpdate, ...update };
      if (event.type === 'agent_message_chunk') this.#text += event.content?.text ?? '';
      this.#events.push(event);
      this.#wake();
    });
    this.#result = client
      .request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
      .then((answer) => ({ ...answer, text: this.#text }))
      .finally(() => {
        this.#over = true;
        this.#wake();
      });
    this.#result.catch(() => {});
  }

  /**
   * @param {(value: any) => any} resolve
   * @param {(error: any) => any} reject
   */
  then(resolve, reject) {
    return this.#result.then(resolve, reject);
  }

  async cancel() {
    this.#client.notify('session/cancel', { sessionId: this.#sessionId });
    await this.#result;
    return { state: 'cancelled' };
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#events.length > 0) yield this.#events.shift();
      if (this.#over) break;
      await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
    }
    await this.#result;
  }
}

/** @param {any} options */
async function probeAcpReadiness({ binaryPath, args, cwd, env }) {
  try {
    const client = await AcpClient.launch({ command: binaryPath, args, cwd, env });
    await client.close();
    return { ok: true, reason: 'ok' };
  } catch (error) {
    return { ok: false, reason: 'spawn_error', detail: String(/** @type {Error} */ (error).message) };
  }
}

module.exports = { AcpClient, probeAcpReadiness };
