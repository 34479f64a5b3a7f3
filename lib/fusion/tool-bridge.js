'use strict';

/**
 * The engine's own tools for the agent: a stdio MCP server (mcp-schema-server.cjs), started by the agent, that hands calls
 * to this process over loopback HTTP. A token keeps everybody else out.
 *
 * @typedef {object} ToolLike
 * @property {string} name
 * @property {string} [description]
 * @property {unknown} [parameters]
 * @property {(toolCallId: string, params: any, signal?: AbortSignal, onUpdate?: any, ctx?: any) => any} [execute]
 *
 * @typedef {{ name: string, description: string, inputSchema: unknown }} McpToolDef
 *
 * @typedef {object} FusionToolBridge
 * @property {import('../../types/fusion').AcpMcpServerStdio} mcpServer
 * @property {() => Promise<void>} dispose
 * @property {number} toolCount
 */

const { randomBytes, randomUUID, timingSafeEqual } = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { removeSchemaFile, writeSchemaFile } = require('./schema-files.js');
const { boundIdentifier } = require('./sanitize.js');
const { isObject } = require('./tool-mapping.js');

const SERVER_NAME = 'fusion-custom-tools';
/** The agent has tools of its own for these. */
const BUILT_IN = new Set(['read', 'write', 'edit', 'bash', 'grep', 'find']);
/** Bytes of one request. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Calls that run at once. */
const MAX_CALLS = 64;
/** Milliseconds that `dispose` waits for calls that do not heed their signal. */
const DRAIN_MS = 5_000;

/**
 * @param {unknown} tools
 * @returns {ToolLike[]}
 */
function usableTools(tools) {
  return (Array.isArray(tools) ? tools : []).filter((tool) => isObject(tool)
    && typeof tool.name === 'string' && tool.name.trim() !== '' && !BUILT_IN.has(tool.name)
    && typeof tool.execute === 'function');
}

/**
 * @param {unknown} tools
 * @returns {McpToolDef[]}
 */
function toolsToMcpToolDefs(tools) {
  return usableTools(tools).map(({ name, description, parameters }) => ({
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema: isObject(parameters) ? parameters : { type: 'object', properties: {} },
  }));
}

/** @returns {string} */
function fusionToolsMcpServerPath() {
  return path.join(__dirname, 'mcp-schema-server.cjs');
}

/**
 * A tool's result as text.
 *
 * @param {unknown} result
 * @returns {string}
 */
function resultText(result) {
  if (result === null || result === undefined) return '';
  if (typeof result === 'string') return result;
  if (isObject(result)) {
    if (typeof result.text === 'string') return result.text;
    if (Array.isArray(result.content)) {
      return result.content.map((block) => (typeof block?.text === 'string' ? block.text : JSON.stringify(block))).join('\n');
    }
  }
  return JSON.stringify(result) ?? '';
}

/**
 * @param {string} text
 * @param {boolean} isError
 */
function answer(text, isError) {
  return { isError, content: [{ type: 'text', text }] };
}

/**
 * @param {unknown} id
 * @returns {string}
 */
function callId(id) {
  const text = boundIdentifier(typeof id === 'number' ? String(id) : id);
  return text === '' ? `acp-mcp-${randomUUID()}` : text;
}

/**
 * The request's body; `undefined` when it is too large.
 *
 * @param {http.IncomingMessage} request
 * @returns {Promise<string | undefined>}
 */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The calls, and the server that takes them. */
class Bridge {
  /**
   * @param {ToolLike[]} tools
   * @param {string} schemaFile
   */
  constructor(tools, schemaFile) {
    /** @type {Map<string, ToolLike>} */
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.schemaFile = schemaFile;
    this.token = randomBytes(24).toString('hex');
    this.expected = Buffer.from(`Bearer ${this.token}`);
    this.disposed = false;
    /** @type {Map<AbortController, Promise<void>>} */
    this.running = new Map();
    this.server = http.createServer((request, response) => {
      // A client that hangs up is no fault of this process.
      this.handle(request, response).catch(() => response.destroy());
    });
    /** @type {Promise<void> | undefined} */
    this.disposing = undefined;
  }

  /** @param {string | undefined} given */
  isAuthorized(given) {
    const bytes = Buffer.from(given ?? '');
    return bytes.length === this.expected.length && timingSafeEqual(bytes, this.expected);
  }

  /**
   * @param {http.IncomingMessage} request
   * @param {http.ServerResponse} response
   */
  async handle(request, response) {
    /** @param {number} status @param {object} body */
    const reply = (status, body) => {
      if (response.destroyed) return;
      // What is left of a body that was not read must not be taken for the next request.
      const headers = { 'content-type': 'application/json', ...(request.complete ? {} : { connection: 'close' }) };
      response.writeHead(status, headers).end(JSON.stringify(body));
    };
    if (request.method !== 'POST' || request.url !== '/tool-call') return reply(404, { isError: true, text: 'not found' });
    if (!this.isAuthorized(request.headers.authorization)) return reply(401, { isError: true, text: 'unauthorized' });
    const body = await readBody(request);
    if (body === undefined) return reply(413, { isError: true, text: `request body exceeds ${MAX_BODY_BYTES} bytes` });
    if (this.disposed) return reply(503, { isError: true, text: 'tool bridge disposed' });
    let call;
    try {
      call = JSON.parse(body);
    } catch {
      return reply(400, { isError: true, text: 'invalid JSON body' });
    }
    const tool = isObject(call) ? this.tools.get(call.name) : undefined;
    if (tool === undefined) return reply(404, { isError: true, text: `Unknown Fusion tool: ${call?.name}` });
    if (this.running.size >= MAX_CALLS) return reply(503, { isError: true, text: `more than ${MAX_CALLS} tool calls at once` });
    reply(200, await this.execute(tool, call, response));
  }

  /**
   * @param {ToolLike} tool
   * @param {any} call
   * @param {http.ServerResponse} response
   */
  async execute(tool, call, response) {
    const controller = new AbortController();
    const hungUp = () => {
      if (!response.writableFinished) controller.abort();
    };
    response.once('close', hungUp);
    const done = run(tool, callId(call.toolCallId ?? call.id), call.arguments ?? call.params ?? {}, controller.signal);
    this.running.set(controller, done.then(() => {}));
    try {
      return await done;
    } finally {
      this.running.delete(controller);
    }
  }

  /** @returns {Promise<number>} the port */
  listen() {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', () => {
        this.server.off('error', reject);
        this.server.on('error', () => {});
        const address = this.server.address();
        if (isObject(address)) resolve(address.port);
        else reject(new Error('tool bridge failed to bind'));
      });
    });
  }

  /** @returns {Promise<void>} */
  dispose() {
    this.disposing ??= this.end();
    return this.disposing;
  }

  async end() {
    this.disposed = true;
    for (const controller of this.running.keys()) controller.abort();
    this.server.close();
    this.server.closeAllConnections();
    removeSchemaFile(this.schemaFile);
    await Promise.all([...this.running.values()].map(bounded));
  }
}

/**
 * @param {ToolLike} tool
 * @param {string} id
 * @param {unknown} params
 * @param {AbortSignal} signal
 */
async function run(tool, id, params, signal) {
  try {
    const result = await tool.execute?.(id, params, signal, undefined, undefined);
    return answer(resultText(result), isObject(result) && result.isError === true);
  } catch (error) {
    return answer(error instanceof Error ? error.message : String(error), true);
  }
}

/** @param {Promise<void>} running */
function bounded(running) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  return Promise.race([running, late]).finally(() => clearTimeout(timer));
}

/**
 * @param {unknown} tools
 * @returns {Promise<FusionToolBridge | null>} `null` when there is no tool to offer
 */
async function startFusionToolBridge(tools) {
  const usable = usableTools(tools);
  if (usable.length === 0) return null;
  const serverPath = fusionToolsMcpServerPath();
  if (!fs.existsSync(serverPath)) {
    const missing = new Error(`Fusion MCP schema server is missing: ${serverPath}`);
    throw Object.assign(missing, { code: 'mcp-schema-server-missing' });
  }
  const schemaFile = writeSchemaFile(JSON.stringify(toolsToMcpToolDefs(usable)));
  const bridge = new Bridge(usable, schemaFile);
  let port;
  try {
    port = await bridge.listen();
  } catch (error) {
    await bridge.dispose();
    throw error;
  }
  return {
    mcpServer: {
      name: SERVER_NAME,
      command: process.execPath,
      args: [serverPath, schemaFile],
      env: [
        { name: 'FUSION_ACP_TOOL_BRIDGE_URL', value: `http://127.0.0.1:${port}` },
        { name: 'FUSION_ACP_TOOL_BRIDGE_TOKEN', value: bridge.token },
      ],
    },
    toolCount: usable.length,
    dispose: () => bridge.dispose(),
  };
}

module.exports = { toolsToMcpToolDefs, fusionToolsMcpServerPath, startFusionToolBridge, MAX_BODY_BYTES, MAX_CALLS };
