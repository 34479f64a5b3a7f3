'use strict';

/**
 * A small ACP agent over OpenAI chat completions, for testing the interop kit. Its arguments name faults:
 *
 * - `never-asks`: runs its tools without a permission request
 * - `runs-anyway`: asks, and runs its tools whatever the answer is
 * - `ignores-cancel`: runs a cancelled turn to its end
 * - `holds-text`: says the whole answer at the end
 * - `leaves-tool`: a tool outlives the agent
 * - `mute-when-long`: never answers a prompt of more than 200 characters
 * - `always-passes`: says a verdict, whatever it is asked
 * - `dies-later`: ends in its second turn
 */

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const readline = require('node:readline');
const { Readable } = require('node:stream');

const faults = new Set(process.argv.slice(2));
const TOOLS = [
  { name: 'bash', properties: { command: { type: 'string' } } },
  { name: 'write_file', properties: { path: { type: 'string' }, content: { type: 'string' } } },
];

/** @type {Map<any, (result: any) => void>} */
const waiting = new Map();
let nextId = 1;
let stop = new AbortController();

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/**
 * @param {string} method
 * @param {object} params
 * @returns {Promise<any>}
 */
function ask(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

/** @param {string} text */
function say(text) {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  send({ method: 'session/update', params: { sessionId: 's', update } });
}

/** @param {any[]} messages */
async function callModel(messages) {
  const tools = TOOLS.map(({ name, properties }) => {
    const parameters = { type: 'object', properties, required: Object.keys(properties) };
    return { type: 'function', function: { name, parameters } };
  });
  const response = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'fake-model', stream: true, messages, tools }),
    signal: stop.signal,
  });
  let held = '';
  let call;
  for await (const line of readline.createInterface({ input: Readable.fromWeb(/** @type {any} */ (response.body)) })) {
    if (!line.startsWith('data: {')) continue;
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta ?? {};
    if (delta.content && faults.has('holds-text')) held += delta.content;
    else if (delta.content) say(delta.content);
    if (delta.tool_calls) call = delta.tool_calls[0].function;
  }
  if (held) say(held);
  return call;
}

/** @param {{ name: string, arguments: string }} call */
async function runTool(call) {
  if (!faults.has('never-asks')) {
    const options = ['allow_once', 'reject_once'].map((kind) => ({ kind, name: kind, optionId: kind }));
    const toolCall = { toolCallId: 't', title: call.name, kind: 'execute' };
    const { outcome } = await ask('session/request_permission', { sessionId: 's', toolCall, options });
    if (outcome.optionId !== 'allow_once' && !faults.has('runs-anyway')) return;
  }
  const args = JSON.parse(call.arguments);
  if (call.name === 'write_file') return fs.writeFileSync(args.path, args.content);
  const detached = faults.has('leaves-tool');
  const child = spawn('sh', ['-c', args.command], { detached, stdio: 'ignore' });
  const end = () => child.kill('SIGKILL');
  if (!detached) stop.signal.addEventListener('abort', end);
  await new Promise((resolve) => child.on('exit', resolve));
}

let turns = 0;

/** @param {string} text */
async function prompt(text) {
  turns++;
  if (faults.has('mute-when-long') && text.length > 200) return new Promise(() => {});
  if (faults.has('dies-later') && turns > 1) process.exit(3);
  if (faults.has('always-passes')) {
    say('{"verdict":"pass"}');
    return { stopReason: 'end_turn' };
  }
  stop = new AbortController();
  const messages = [{ role: 'user', content: text }];
  try {
    const call = await callModel(messages);
    if (call) {
      await runTool(call);
      await callModel([...messages, { role: 'assistant', content: null }, { role: 'tool', content: 'done' }]);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return { stopReason: stop.signal.aborted ? 'cancelled' : 'end_turn' };
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (!method) return waiting.get(id)?.(result);
  if (method === 'initialize') return send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') return send({ id, result: { sessionId: 's' } });
  if (method === 'session/prompt') return send({ id, result: await prompt(params.prompt.map((/** @type {any} */ block) => block.text).join('\n')) });
  if (method === 'session/cancel' && !faults.has('ignores-cancel')) stop.abort();
  return undefined;
});
