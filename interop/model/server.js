'use strict';

/** A fake model server on 127.0.0.1. It speaks four model protocols and answers as the prompt steers it. */

const http = require('node:http');
const os = require('node:os');
const zlib = require('node:zlib');
const { promisify } = require('node:util');
const { once } = require('node:events');
const { holdsPicture } = require('../lib/image.js');
const { TOOL } = require('../lib/mcp-server.js');
const { decide, SLOW_PIECES } = require('./steer.js');

const gunzip = promisify(zlib.gunzip);
const PROTOCOLS = [
  require('./anthropic.js'),
  require('./openai-chat.js'),
  require('./openai-responses.js'),
  require('./gemini.js'),
];
const MODELS = ['fake-model', 'gpt-5', 'claude-sonnet-4-5', 'gemini-2.5-pro'];
/** Requests carry an agent's whole system prompt and history; more than this is a fault. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * @typedef {(data: object | string, event?: string) => Promise<void>} Emit
 * @typedef {object} ModelRequest
 * @property {string} path
 * @property {string} protocol
 * @property {string[]} tools names the agent offered
 * @property {string} word what steered the answer
 * @property {string} [model] which model was asked for
 * @property {boolean} picture whether the conversation holds one
 * @property {boolean} namesTool whether the interop MCP server's tool is named anywhere in it
 * @property {string} [call] the tool called
 * @property {number} startedAt milliseconds since the epoch
 * @property {number} [finishedAt] absent while the answer runs or when the agent hung up
 * @property {boolean} hungUp the agent closed the connection before the answer ended
 */

class FakeModel {
  #server = http.createServer((request, response) => {
    this.#serve(request, response).catch((error) => {
      if (response.destroyed) return;
      this.faults.push(String(error?.stack ?? error));
      response.writeHead(500).end();
    });
  });

  /** Where the answers have files written. */
  workDir = os.tmpdir();
  /** How long `STEER:slow` is. */
  slowPieces = SLOW_PIECES;
  /** Every model request so far, in order. @type {ModelRequest[]} */
  requests = [];
  /** Requests for something that is not a model call. @type {string[]} */
  others = [];
  /** The server's own failures. @type {string[]} */
  faults = [];

  /** @param {number} [port] 0 picks a free one */
  async listen(port = 0) {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port() {
    return /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port;
  }

  async close() {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** Forgets what was asked so far. */
  reset() {
    this.requests = [];
    this.others = [];
  }

  /**
   * @param {http.IncomingMessage} request
   * @param {http.ServerResponse} response
   */
  async #serve(request, response) {
    const path = (request.url ?? '/').split('?')[0];
    const body = await readBody(request);
    const protocol = request.method === 'POST' ? PROTOCOLS.find((each) => each.matches(path)) : undefined;
    if (!protocol) {
      this.others.push(`${request.method} ${path}`);
      return sendJson(response, other(path));
    }
    const { messages, isOurs, isToolResult, tools, stream } = protocol.read(body, path);
    const settings = { cwd: this.workDir, slowPieces: this.slowPieces };
    const answer = decide(tailOf(messages, isOurs, isToolResult), tools, settings);
    /** @type {ModelRequest} */
    const entry = {
      path,
      protocol: protocol.name,
      tools: tools.map((/** @type {{ name: string }} */ tool) => tool.name),
      word: answer.word,
      model: modelOf(body, path),
      picture: holdsPicture(messages),
      namesTool: JSON.stringify(body).includes(TOOL),
      call: answer.kind === 'call' ? answer.name : undefined,
      startedAt: Date.now(),
      hungUp: false,
    };
    this.requests.push(entry);
    response.on('close', () => {
      entry.hungUp = entry.finishedAt === undefined;
    });
    if (stream) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        connection: 'close',
      });
      await protocol.stream(body, answer, emitter(response));
      entry.finishedAt = Date.now();
      response.end();
    } else {
      const whole = await protocol.whole(body, answer);
      entry.finishedAt = Date.now();
      sendJson(response, whole);
    }
  }
}

/**
 * What the user side said since the model last spoke, as JSON text. Up to the last result of a tool it does not count,
 * so that one word steers one answer; what follows is the prompt after a turn that ended without another word of the
 * model.
 *
 * @param {any[]} messages
 * @param {(message: any) => boolean} isOurs
 * @param {(message: any) => boolean} isToolResult
 */
function tailOf(messages, isOurs, isToolResult) {
  const tail = messages.slice(messages.findLastIndex(isOurs) + 1);
  return JSON.stringify(tail.slice(tail.findLastIndex(isToolResult) + 1));
}

/**
 * @param {any} body
 * @param {string} path Gemini's clients name the model there
 */
const modelOf = (body, path) => body.model ?? path.match(/models\/([^:/]+)/)?.[1];

/** @param {http.IncomingMessage} request */
async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new Error('request too large');
    parts.push(part);
  }
  let bytes = Buffer.concat(parts);
  if (request.headers['content-encoding'] === 'gzip') bytes = await gunzip(bytes);
  try {
    return JSON.parse(bytes.toString('utf8')) ?? {};
  } catch {
    return {};
  }
}

/**
 * Server-sent events; stops the answer when the agent has hung up.
 *
 * @param {http.ServerResponse} response
 * @returns {Emit}
 */
function emitter(response) {
  return async (data, event) => {
    if (response.destroyed) throw new Error('the agent hung up');
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${event ? `event: ${event}\n` : ''}data: ${text}\n\n`);
  };
}

/**
 * @param {http.ServerResponse} response
 * @param {object} value
 */
function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Model lists, token counts, and everything else an agent may ask its provider for. @param {string} path */
function other(path) {
  if (/count_?tokens/i.test(path)) return { input_tokens: 11, totalTokens: 11 };
  if (!/models/.test(path)) return {};
  const data = MODELS.map((id) => ({
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 1,
    created_at: '2025-01-01T00:00:00Z',
    owned_by: 'interop',
  }));
  return { object: 'list', data, models: [], has_more: false, first_id: MODELS[0], last_id: MODELS[MODELS.length - 1] };
}

module.exports = { FakeModel };
