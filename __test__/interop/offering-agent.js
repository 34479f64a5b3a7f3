'use strict';

/**
 * A small ACP agent over OpenAI chat completions that offers what a session can have: it keeps sessions in its working
 * directory, has settings, takes images and starts MCP servers. Its arguments name faults; the first may be `bare`, for
 * an agent that offers nothing of it:
 *
 * - `loses-sessions`: a session cannot be loaded
 * - `hides-session`: no session is in its list
 * - `forks-itself`: a fork is the session itself
 * - `silent-resume`: a resumed session answers nothing
 * - `keeps-deleted`: a deleted session stays in the list
 * - `keeps-option`: an option is what it was
 * - `keeps-model`: every model is refused but the current one
 * - `drops-image`: only the text of a prompt reaches the model
 * - `ignores-mcp`: MCP servers are not started
 * - `hides-mcp`: their tools are not offered to the model
 */

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const faults = new Set(process.argv.slice(2));
const bare = faults.has('bare');
const STORE = path.join(process.cwd(), 'offering-agent.json');
/** @type {Record<string, { cwd: string, said: string[] }>} */
const sessions = fs.existsSync(STORE) ? JSON.parse(fs.readFileSync(STORE, 'utf8')) : {};
/** @type {Set<string>} */
const silent = new Set();
/** Tools of the MCP servers, and how to call each. @type {Map<string, { schema: any, call: () => Promise<any> }>} */
const tools = new Map();
/** @type {any} */
const values = { model: 'fake-model', level: 'low', loud: false };

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const save = () => fs.writeFileSync(STORE, JSON.stringify(sessions));
/** @param {string} message */
const refuse = (message) => Object.assign(new Error(message), { code: -32603 });

/**
 * @param {string} sessionId
 * @param {string} sessionUpdate
 * @param {string} text
 */
function say(sessionId, sessionUpdate, text) {
  send({ method: 'session/update', params: { sessionId, update: { sessionUpdate, content: { type: 'text', text } } } });
}

function configOptions() {
  /** @param {string} id @param {string[]} names @param {object} more */
  const select = (id, names, more) => {
    const options = names.map((name) => ({ value: name, name }));
    return { id, name: id, type: 'select', currentValue: values[id], options, ...more };
  };
  return [
    select('model', ['fake-model', 'gpt-5'], { category: 'model' }),
    select('level', ['low', 'high'], { category: 'thought_level' }),
    { id: 'loud', name: 'loud', type: 'boolean', currentValue: values.loud },
  ];
}

const opened = () => {
  const availableModes = ['ask', 'act'].map((id) => ({ id, name: id }));
  return bare ? {} : { modes: { currentModeId: 'ask', availableModes }, configOptions: configOptions() };
};

/** @param {any} server */
async function connect({ command, args, env }) {
  const child = spawn(command, args, { env: Object.fromEntries(env.map((/** @type {any} */ e) => [e.name, e.value])) });
  const waiting = new Map();
  readline.createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
  });
  /** @param {string} method @param {object} params @returns {Promise<any>} */
  const ask = (method, params) => {
    const id = waiting.size + 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  process.on('exit', () => child.kill('SIGKILL'));
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } });
  for (const { name, inputSchema } of (await ask('tools/list', {})).tools) {
    if (faults.has('hides-mcp')) continue;
    tools.set(`mcp__${name}`, { schema: inputSchema, call: () => ask('tools/call', { name, arguments: {} }) });
  }
}

/** @param {any[]} messages @returns {Promise<any>} */
async function callModel(messages) {
  const own = { type: 'function', function: { name: 'nothing', parameters: { type: 'object', properties: {} } } };
  const offered = [...tools].map(([name, { schema }]) => {
    return { type: 'function', function: { name, parameters: schema } };
  });
  const response = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: values.model, messages, tools: [own, ...offered] }),
  });
  return /** @type {any} */ (await response.json()).choices[0].message;
}

/** @param {any} block */
const partOf = (block) =>
  block.type === 'image'
    ? { type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } }
    : { type: 'text', text: block.text };

/** @type {Record<string, (params: any) => any>} */
const methods = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: bare
      ? {}
      : {
          loadSession: true,
          promptCapabilities: { image: true },
          sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {}, delete: {} },
          providers: {},
        },
  }),
  'session/new': async ({ cwd, mcpServers }) => {
    const sessionId = `s${Object.keys(sessions).length + 1}`;
    sessions[sessionId] = { cwd, said: [] };
    save();
    if (!faults.has('ignores-mcp')) for (const server of mcpServers) await connect(server);
    return { sessionId, ...opened() };
  },
  'session/prompt': async ({ sessionId, prompt }) => {
    if (silent.has(sessionId)) return { stopReason: 'end_turn' };
    const blocks = prompt.filter((/** @type {any} */ { type }) => type === 'text' || !faults.has('drops-image'));
    const messages = [{ role: 'user', content: blocks.map(partOf) }];
    let answer = await callModel(messages);
    const [call] = answer.tool_calls ?? [];
    if (call) {
      await tools.get(call.function.name)?.call();
      answer = await callModel([...messages, answer, { role: 'tool', content: 'done' }]);
    }
    say(sessionId, 'agent_message_chunk', answer.content);
    sessions[sessionId].said.push(answer.content);
    save();
    return { stopReason: 'end_turn' };
  },
  'session/list': () => {
    const all = faults.has('hides-session') ? [] : Object.entries(sessions);
    return { sessions: all.map(([sessionId, { cwd }]) => ({ sessionId, cwd })) };
  },
  'session/load': ({ sessionId }) => {
    if (faults.has('loses-sessions') || !sessions[sessionId]) throw refuse('no such session');
    for (const text of sessions[sessionId].said) say(sessionId, 'agent_message_chunk', text);
    return opened();
  },
  'session/resume': ({ sessionId }) => {
    if (!sessions[sessionId]) throw refuse('no such session');
    if (faults.has('silent-resume')) silent.add(sessionId);
    return opened();
  },
  'session/fork': ({ sessionId }) => {
    if (faults.has('forks-itself')) return { sessionId, ...opened() };
    const fork = `${sessionId}-fork`;
    sessions[fork] = structuredClone(sessions[sessionId]);
    return { sessionId: fork, ...opened() };
  },
  'session/close': () => ({}),
  'session/delete': ({ sessionId }) => {
    if (!faults.has('keeps-deleted')) delete sessions[sessionId];
    save();
    return {};
  },
  'session/set_mode': () => ({}),
  'session/set_config_option': ({ configId, value }) => {
    const other = configId === 'model' && value !== values.model;
    if (other && faults.has('keeps-model')) throw refuse('nobody is signed in');
    if (!faults.has('keeps-option')) values[configId] = value;
    return { configOptions: configOptions() };
  },
  'providers/list': () => {
    const current = { apiType: 'openai', baseUrl: '' };
    return { providers: [{ providerId: 'fake', required: true, supported: ['openai'], current }] };
  },
  'providers/set': () => ({}),
};

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  try {
    if (!methods[method]) throw Object.assign(new Error('Method not found'), { code: -32601 });
    send({ id, result: await methods[method](params) });
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    send({ id, error: { code: code ?? -32603, message } });
  }
});
process.stdin.on('end', () => process.exit());
