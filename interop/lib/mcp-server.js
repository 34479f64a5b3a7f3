'use strict';

/**
 * A small MCP server over stdio with one tool. It tells in a file how far an agent came with it: a line each for
 * `started`, `listed` and `called`.
 *
 *     node mcp-server.js <file>
 */

const fs = require('node:fs');
const readline = require('node:readline');

const TOOL = 'interop_mark';

/** @param {string} file */
function serve(file) {
  const mark = (/** @type {string} */ word) => fs.appendFileSync(file, `${word}\n`);
  /** @type {Record<string, (params: any) => object>} */
  const methods = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'interop', version: '1.0.0' },
    }),
    ping: () => ({}),
    'tools/list': () => {
      mark('listed');
      const inputSchema = { type: 'object', properties: { note: { type: 'string', description: 'Any text.' } } };
      return { tools: [{ name: TOOL, description: 'Leaves a mark for the interop run.', inputSchema }] };
    },
    'tools/call': () => {
      mark('called');
      return { content: [{ type: 'text', text: 'marked' }] };
    },
  };
  mark('started');
  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) return;
    const answer = methods[method]
      ? { result: methods[method](params ?? {}) }
      : { error: { code: -32601, message: 'Method not found' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  });
}

if (require.main === module) serve(process.argv[2]);

module.exports = { TOOL };
