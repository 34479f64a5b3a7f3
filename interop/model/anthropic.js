'use strict';

/** Anthropic Messages. */

const { randomUUID } = require('node:crypto');
const { joined } = require('./text.js');

const USAGE = { input_tokens: 11, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

/** @param {string} path */
const matches = (path) => path.endsWith('/messages');

/** @param {any} body */
function read(body) {
  return {
    messages: body.messages ?? [],
    isOurs: (/** @type {any} */ message) => message.role === 'assistant',
    isToolResult: (/** @type {any} */ message) =>
      Array.isArray(message.content) && message.content.some((/** @type {any} */ part) => part.type === 'tool_result'),
    tools: (body.tools ?? [])
      .filter((/** @type {any} */ tool) => tool.name)
      .map((/** @type {any} */ tool) => ({ name: tool.name, schema: tool.input_schema })),
    stream: body.stream === true,
  };
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 */
async function whole(body, answer) {
  const block =
    answer.kind === 'call'
      ? { type: 'tool_use', id: `toolu_${randomUUID()}`, name: answer.name, input: answer.args }
      : { type: 'text', text: await joined(answer) };
  return { ...head(body), content: [block], stop_reason: stopReason(answer), usage: USAGE };
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 * @param {import('./server.js').Emit} emit
 */
async function stream(body, answer, emit) {
  /** @param {string} type @param {object} fields */
  const event = (type, fields) => emit({ type, ...fields }, type);
  await event('message_start', { message: { ...head(body), usage: { ...USAGE, output_tokens: 1 } } });
  if (answer.kind === 'call') {
    const block = { type: 'tool_use', id: `toolu_${randomUUID()}`, name: answer.name, input: {} };
    await event('content_block_start', { index: 0, content_block: block });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(answer.args) };
    await event('content_block_delta', { index: 0, delta });
  } else {
    await event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    for await (const text of answer.pieces()) {
      await event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    }
  }
  await event('content_block_stop', { index: 0 });
  const delta = { stop_reason: stopReason(answer), stop_sequence: null };
  await event('message_delta', { delta, usage: { output_tokens: USAGE.output_tokens } });
  await event('message_stop', {});
}

/** @param {any} body */
function head(body) {
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

/** @param {import('./steer.js').Answer} answer */
const stopReason = (answer) => (answer.kind === 'call' ? 'tool_use' : 'end_turn');

module.exports = { name: 'anthropic-messages', matches, read, whole, stream };
