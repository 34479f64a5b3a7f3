'use strict';

/**
 * A stdio MCP server that lists the engine's tools from a schema file and hands each call to the tool bridge of the host.
 * Started by the agent: `node mcp-schema-server.cjs <schema file>`.
 */

const fs = require('node:fs');
const readline = require('node:readline');

const PROTOCOL_VERSION = '2024-11-05';
const CALL_TIMEOUT_MS = 120_000;
const METHOD_NOT_FOUND = -32601;

const schemaFile = process.argv[2];
const url = process.env.FUSION_ACP_TOOL_BRIDGE_URL;
const token = process.env.FUSION_ACP_TOOL_BRIDGE_TOKEN ?? '';

if (!schemaFile || !url) {
  process.stderr.write('usage: mcp-schema-server.cjs <schema file>, with FUSION_ACP_TOOL_BRIDGE_URL set\n');
  process.exit(1);
}

/** @type {unknown[]} */
const tools = JSON.parse(fs.readFileSync(schemaFile, 'utf8'));

/** @param {object} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** @param {string} text */
function failed(text) {
  return { isError: true, content: [{ type: 'text', text }] };
}

/**
 * @param {unknown} id
 * @param {any} params
 */
async function callTool(id, params) {
  try {
    const response = await fetch(new URL('/tool-call', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: params?.name, arguments: params?.arguments ?? {}, toolCallId: id }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const body = await response.text();
    if (!response.ok) return failed(`tool bridge responded ${response.status}: ${body}`);
    return JSON.parse(body);
  } catch (error) {
    return failed(`tool bridge is not reachable: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {any} message */
async function handle(message) {
  const { id, method, params } = message;
  if (typeof method !== 'string') return;
  // Notifications get no answer.
  if (id === undefined || id === null) return;
  switch (method) {
    case 'initialize':
      send({
        id,
        result: {
          protocolVersion: PROTOCOL_VERSION,
          capabilities: { tools: {} },
          serverInfo: { name: 'fusion-custom-tools', version: '1.0.0' },
        },
      });
      break;
    case 'ping':
      send({ id, result: {} });
      break;
    case 'tools/list':
      send({ id, result: { tools } });
      break;
    case 'tools/call':
      send({ id, result: await callTool(id, params) });
      break;
    default:
      send({ id, error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } });
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  if (message !== null && typeof message === 'object') void handle(message);
});
