'use strict';

/** OpenAI responses. */

const { randomUUID } = require('node:crypto');
const { joined } = require('./text.js');

const USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 18,
};

/** @param {string} path */
const matches = (path) => path.endsWith('/responses');

/** @param {any} body */
function read(body) {
  return {
    messages: Array.isArray(body.input) ? body.input : [{ role: 'user', content: body.input }],
    isOurs: (/** @type {any} */ item) => item.role === 'assistant' || /_call$|reasoning/.test(item.type ?? ''),
    isToolResult: (/** @type {any} */ item) => /_call_output$/.test(item.type ?? ''),
    tools: (body.tools ?? []).flatMap(toolsOf),
    stream: body.stream === true,
  };
}

/**
 * A namespace holds the tools of one source, such as an MCP server.
 *
 * @param {any} tool
 * @returns {import('./tools.js').Tool[]}
 */
function toolsOf(tool) {
  if (tool.type === 'namespace') {
    /** @type {import('./tools.js').Tool[]} */
    const inner = (tool.tools ?? []).flatMap(toolsOf);
    return inner.map((each) => ({ ...each, namespace: tool.name }));
  }
  return tool.type === 'function' ? [{ name: tool.name, schema: tool.parameters }] : [];
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 */
async function whole(body, answer) {
  const item = answer.kind === 'call' ? callItem(answer) : messageItem(await joined(answer));
  return response(body, `resp_${randomUUID()}`, 'completed', [item]);
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 * @param {import('./server.js').Emit} emit
 */
async function stream(body, answer, emit) {
  const id = `resp_${randomUUID()}`;
  let sequence = 0;
  /** @param {string} type @param {object} fields */
  const event = (type, fields) => emit({ type, sequence_number: sequence++, ...fields }, type);
  await event('response.created', { response: response(body, id, 'in_progress', []) });
  const item = answer.kind === 'call' ? await streamCall(answer, event) : await streamText(answer, event);
  await event('response.output_item.done', { output_index: 0, item });
  await event('response.completed', { response: response(body, id, 'completed', [item]) });
}

/**
 * @param {import('./steer.js').CallAnswer} answer
 * @param {(type: string, fields: object) => Promise<void>} event
 */
async function streamCall(answer, event) {
  const item = callItem(answer);
  const at = { item_id: item.id, output_index: 0 };
  await event('response.output_item.added', {
    output_index: 0,
    item: { ...item, arguments: '', status: 'in_progress' },
  });
  await event('response.function_call_arguments.delta', { ...at, delta: item.arguments });
  await event('response.function_call_arguments.done', { ...at, arguments: item.arguments });
  return item;
}

/**
 * @param {import('./steer.js').TextAnswer} answer
 * @param {(type: string, fields: object) => Promise<void>} event
 */
async function streamText(answer, event) {
  const empty = messageItem('');
  const at = { item_id: empty.id, output_index: 0, content_index: 0 };
  await event('response.output_item.added', {
    output_index: 0,
    item: { ...empty, content: [], status: 'in_progress' },
  });
  await event('response.content_part.added', { ...at, part: outputText('') });
  let text = '';
  for await (const delta of answer.pieces()) {
    text += delta;
    await event('response.output_text.delta', { ...at, delta, logprobs: [] });
  }
  await event('response.output_text.done', { ...at, text, logprobs: [] });
  await event('response.content_part.done', { ...at, part: outputText(text) });
  return { ...empty, content: [outputText(text)] };
}

/** @param {string} text */
const outputText = (text) => ({ type: 'output_text', text, annotations: [] });

/** @param {string} text */
const messageItem = (text) => ({
  type: 'message',
  id: `msg_${randomUUID()}`,
  role: 'assistant',
  status: 'completed',
  content: [outputText(text)],
});

/** @param {import('./steer.js').CallAnswer} answer */
const callItem = (answer) => ({
  type: 'function_call',
  id: `fc_${randomUUID()}`,
  call_id: `call_${randomUUID()}`,
  name: answer.name,
  ...(answer.namespace ? { namespace: answer.namespace } : {}),
  arguments: JSON.stringify(answer.args),
  status: 'completed',
});

/**
 * @param {any} body
 * @param {string} id
 * @param {string} status
 * @param {object[]} output
 */
const response = (body, id, status, output) => ({
  id,
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  status,
  model: body.model,
  output,
  parallel_tool_calls: false,
  tool_choice: 'auto',
  tools: [],
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  usage: status === 'completed' ? USAGE : null,
});

module.exports = { name: 'openai-responses', matches, read, whole, stream };
