'use strict';

/**
 * What the fake model does with a request: the prompt steers it.
 *
 * | word in the prompt | answer |
 * |---|---|
 * | `STEER:shell` | one call of the agent's shell tool, which writes `interop-shell.txt` |
 * | `STEER:write` | one call of the agent's file tool, which writes `interop-write.txt` |
 * | `STEER:long`  | one call of the shell tool, which writes `interop-long.txt` and then runs on |
 * | `STEER:mcp`   | one call of the interop MCP server's tool, by whatever name the agent offers it |
 * | `STEER:stream` | {@link STREAM_PIECES} pieces of text, {@link STREAM_GAP_MS} apart |
 * | `STEER:slow`  | as many pieces of text as the server is set to, {@link SLOW_GAP_MS} apart |
 * | `STEER:verdict` | {@link VERDICT} as JSON, after a line of prose |
 * | none          | {@link HELLO} |
 *
 * The prompts stay short, and name no path: some agents type them into a terminal program, where a long text counts as
 * pasted and a path opens a menu. Where the files go is the server's own setting.
 */

const { TOOL } = require('../lib/mcp-server.js');
const { findShellTool, findWriteTool, fillArguments } = require('./tools.js');

const HELLO_PIECES = ['Hello ', 'from ', 'the model.'];
const HELLO = HELLO_PIECES.join('');
const VERDICT = { verdict: 'pass', summary: 'as it should be', assertions: [{ id: 'a1', passed: true }] };
const STREAM_PIECES = 8;
const STREAM_GAP_MS = 300;
/** Half a minute, longer than any client should wait for a cancelled turn. */
const SLOW_PIECES = 120;
const SLOW_GAP_MS = 250;
const LONG_SECONDS = 97;

const FILES = { shell: 'interop-shell.txt', write: 'interop-write.txt', long: 'interop-long.txt' };
const CONTENT = 'interop\n';

/**
 * @typedef {{ name: string, schema: any, namespace?: string }} Tool
 * @typedef {{ kind: 'text', word: string, pieces: () => AsyncGenerator<string> }} TextAnswer
 * @typedef {{ kind: 'call', word: string, name: string, namespace?: string, args: Record<string, unknown> }} CallAnswer
 * @typedef {TextAnswer | CallAnswer} Answer
 */

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param {string[]} list
 * @param {number} gapMs
 * @returns {() => AsyncGenerator<string>}
 */
function paced(list, gapMs) {
  return async function* pieces() {
    for (const piece of list) {
      if (gapMs > 0) await pause(gapMs);
      yield piece;
    }
  };
}

/**
 * Shell text that leaves a mark and, for a long run, a process whose command line names the scratch folder.
 *
 * @param {'shell' | 'long'} word
 * @param {string} cwd
 */
function shellCommand(word, cwd) {
  const file = `${cwd}/${FILES[word]}`;
  if (word === 'shell') return `echo interop > '${file}' && cat '${file}'`;
  const script = `require("fs").writeFileSync(process.argv[1],"interop");setTimeout(()=>0,${LONG_SECONDS}e3)`;
  return `node -e '${script}' '${file}'`;
}

/**
 * @param {string} tail what the user side said since the model last spoke; empty when a tool's result came back
 * @param {Tool[]} tools
 * @param {{ cwd: string, slowPieces: number }} settings `cwd` is where files go
 * @returns {Answer}
 */
function decide(tail, tools, { cwd, slowPieces }) {
  const word = lastMatch(tail, /STEER:([a-z]+)/g);
  if (word === 'stream') return streamed('stream', STREAM_PIECES, STREAM_GAP_MS);
  if (word === 'slow') return streamed('slow', slowPieces, SLOW_GAP_MS);
  if (word === 'verdict') {
    return { kind: 'text', word, pieces: paced(['I looked.\n', JSON.stringify(VERDICT)], 0) };
  }
  if (word === 'shell' || word === 'long') {
    const tool = findShellTool(tools);
    if (tool) {
      return {
        kind: 'call',
        word,
        name: tool.name,
        args: fillArguments(tool.schema, { command: shellCommand(word, cwd), cwd }),
      };
    }
  }
  if (word === 'write') {
    const tool = findWriteTool(tools);
    if (tool) {
      const wanted = { path: `${cwd}/${FILES.write}`, content: CONTENT, cwd };
      return { kind: 'call', word, name: tool.name, args: fillArguments(tool.schema, wanted) };
    }
  }
  if (word === 'mcp') {
    const tool = tools.find(({ name }) => name.includes(TOOL));
    if (tool) {
      const { name, namespace, schema } = tool;
      return { kind: 'call', word, name, namespace, args: fillArguments(schema, { cwd }) };
    }
    // Some agents offer an MCP server's tools only to a model that looks for them.
    const finder = tools.find(({ name }) => /tool_?search|search_?tool/i.test(name));
    if (finder) {
      const args = { ...fillArguments(finder.schema, { cwd }), query: 'interop' };
      return { kind: 'call', word: 'find', name: finder.name, namespace: finder.namespace, args };
    }
  }
  return { kind: 'text', word: word ?? 'hello', pieces: paced(HELLO_PIECES, 0) };
}

/**
 * @param {string} word
 * @param {number} count
 * @param {number} gapMs
 * @returns {TextAnswer}
 */
function streamed(word, count, gapMs) {
  const list = Array.from({ length: count }, (_, index) => `piece ${index + 1} of ${count}. `);
  return { kind: 'text', word, pieces: paced(list, gapMs) };
}

/**
 * @param {string} text
 * @param {RegExp} pattern
 */
function lastMatch(text, pattern) {
  let found;
  for (const match of text.matchAll(pattern)) found = match[1];
  return found;
}

module.exports = { decide, FILES, HELLO, SLOW_PIECES, VERDICT };
