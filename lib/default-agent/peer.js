'use strict';

const { StringDecoder } = require('node:string_decoder');

/** The longest line accepted from the client, in UTF-16 code units. */
const MAX_LINE = 64 * 1024 * 1024;

/** A JSON-RPC error: thrown by a handler to answer with it, and what a refused request of ours rejects with. */
class RpcError extends Error {
  /**
   * @param {number} code The JSON-RPC error code.
   * @param {string} message One sentence for a person.
   * @param {unknown} [data] Anything that helps the other side.
   */
  constructor(code, message, data) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** The error codes of JSON-RPC and ACP that the agent uses. */
const codes = Object.freeze({
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
});

/**
 * What handles the client's messages.
 *
 * @typedef {object} Handlers
 * @property {(method: string, params: any, signal: AbortSignal) => unknown} request Answers a request, or throws.
 * @property {(method: string, params: any) => void} notification Takes a notification.
 */

/** One side of newline-delimited JSON-RPC 2.0. */
class Peer {
  /**
   * @param {import('node:stream').Readable} input
   * @param {import('node:stream').Writable} output
   */
  constructor(input, output) {
    this.input = input;
    this.output = output;
    this.nextId = 1;
    /** @type {Map<number, { resolve(value: any): void, reject(error: Error): void }>} */
    this.pending = new Map();
    /** @type {Map<string, AbortController>} Requests of the client that are being handled, by their raw id. */
    this.handling = new Map();
    this.ended = false;
  }

  /**
   * Reads messages until the input ends.
   *
   * @param {Handlers} handlers
   * @param {() => void} onEnd Called once, when the client has gone.
   */
  serve(handlers, onEnd) {
    const decoder = new StringDecoder('utf8');
    /** @type {string[]} */
    let parts = [];
    let held = 0;
    const end = () => {
      if (this.ended) return;
      this.ended = true;
      for (const waiting of this.pending.values()) waiting.reject(new Error('the client closed the connection'));
      this.pending.clear();
      onEnd();
    };

    this.input.on('data', (bytes) => {
      const text = decoder.write(bytes);
      let start = 0;
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', start)) {
        parts.push(text.slice(start, at));
        const line = parts.length === 1 ? parts[0] : parts.join('');
        parts = [];
        held = 0;
        start = at + 1;
        this.take(line, handlers);
      }
      if (start < text.length) {
        parts.push(text.slice(start));
        held += text.length - start;
        if (held > MAX_LINE) {
          process.stderr.write('fusion-acp-default-agent: the client sent a line that is too long\n');
          process.exitCode = 1;
          this.input.destroy();
          end();
        }
      }
    });
    this.input.on('end', end);
    this.input.on('error', end);
    // A client that stops reading is a client that has gone.
    this.output.on('error', () => {
      this.input.destroy();
      end();
    });
  }

  /**
   * @param {string} line
   * @param {Handlers} handlers
   */
  take(line, handlers) {
    if (line.trim() === '') return;
    /** @type {any} */
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.write({ jsonrpc: '2.0', id: null, error: { code: codes.parse, message: 'The line is not JSON.' } });
      return;
    }
    if (message === null || typeof message !== 'object' || Array.isArray(message)) {
      this.refuse(null, 'A message is a JSON object; batches are not part of ACP.');
    } else if (typeof message.method === 'string') {
      if (!('id' in message)) this.notified(message, handlers);
      else if (message.id === null || typeof message.id === 'string' || typeof message.id === 'number') {
        void this.answer(message, handlers);
      } else this.refuse(null, 'A request id is a string or a number.');
    } else if ('result' in message || 'error' in message) {
      this.settle(message);
    } else {
      this.refuse(message.id ?? null, 'The message has neither a method nor a result.');
    }
  }

  /**
   * @param {any} message
   * @param {Handlers} handlers
   */
  notified(message, handlers) {
    if (message.method === '$/cancel_request') {
      this.handling.get(JSON.stringify(message.params?.requestId))?.abort();
      return;
    }
    try {
      handlers.notification(message.method, message.params);
    } catch {
      // Nothing ever answers a notification, not even with an error.
    }
  }

  /**
   * @param {any} message
   * @param {Handlers} handlers
   */
  async answer(message, handlers) {
    const key = JSON.stringify(message.id);
    const controller = new AbortController();
    this.handling.set(key, controller);
    try {
      const result = await handlers.request(message.method, message.params ?? {}, controller.signal);
      this.write({ jsonrpc: '2.0', id: message.id, result });
    } catch (error) {
      const known = error instanceof RpcError;
      const body = known
        ? { code: error.code, message: error.message, data: error.data }
        : { code: codes.internal, message: error instanceof Error ? error.message : String(error) };
      this.write({ jsonrpc: '2.0', id: message.id, error: body });
    } finally {
      if (this.handling.get(key) === controller) this.handling.delete(key);
    }
  }

  /** @param {any} message */
  settle(message) {
    const waiting = this.pending.get(message.id);
    if (!waiting) return;
    this.pending.delete(message.id);
    if (message.error) {
      waiting.reject(new RpcError(message.error.code, String(message.error.message), message.error.data));
    } else waiting.resolve(message.result);
  }

  /**
   * Sends a request to the client.
   *
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    if (this.ended) return Promise.reject(new Error('the client closed the connection'));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.write({ jsonrpc: '2.0', id, method, params });
    });
  }

  /**
   * Sends a notification to the client.
   *
   * @param {string} method
   * @param {object} params
   * @returns {boolean} False when the output is full and the caller does well to wait for `drained()`.
   */
  notify(method, params) {
    return this.write({ jsonrpc: '2.0', method, params });
  }

  /** @returns {Promise<void>} Resolves when the output can take more, or when the client is gone. */
  drained() {
    return new Promise((resolve) => {
      if (this.ended || !this.output.writableNeedDrain) return resolve();
      const done = () => {
        this.output.off('drain', done);
        this.output.off('close', done);
        resolve();
      };
      this.output.on('drain', done);
      this.output.on('close', done);
    });
  }

  /**
   * @param {unknown} id
   * @param {string} message
   */
  refuse(id, message) {
    this.write({ jsonrpc: '2.0', id, error: { code: codes.invalidRequest, message } });
  }

  /**
   * @param {object} message
   * @returns {boolean}
   */
  write(message) {
    if (this.ended || this.output.destroyed) return true;
    return this.output.write(`${JSON.stringify(message)}\n`);
  }
}

module.exports = { Peer, RpcError, codes };
