'use strict';

/** OpenAI chat completions. */

const { randomUUID } = require('node:crypto');
const { joined } = require('./text.js');

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

/** @param {string} path */
const matches = (path) => path.endsWith('/chat/completions');

/** @param {any} body */
function read(body) {
  return {
    messages: body.messages ?? [],
    isOurs: (/** @type {any} */ message) => message.role === 'assistant',
    isToolResult: (/** @type {any} */ message) => message.role === 'tool',
    tools: (body.tools ?? [])
      .filter((/** @type {any} */ tool) => tool.type === 'function')
      .map((/** @type {any} */ tool) => ({ name: tool.function.name, schema: tool.function.parameters })),
    stream: body.stream === true,
  };
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 */
async function whole(body, answer) {
  const message =
    answer.kind === 'call'
      ? { role: 'assistant', content: null, tool_calls: [toolCall(answer)] }
      : { role: 'assistant', content: await joined(answer) };
  const choice = { index: 0, message, finish_reason: finishReason(answer) };
  return { ...head(body), object: 'chat.completion', choices: [choice], usage: USAGE };
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 * @param {import('./server.js').Emit} emit
 */
async function stream(body, answer, emit) {
  const base = { ...head(body), object: 'chat.completion.chunk' };
  /** @param {object} delta @param {string | null} [finish] */
  const chunk = (delta, finish = null) => emit({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  await chunk({ role: 'assistant', content: '' });
  if (answer.kind === 'call') await chunk({ tool_calls: [{ index: 0, ...toolCall(answer) }] });
  else for await (const content of answer.pieces()) await chunk({ content });
  await chunk({}, finishReason(answer));
  await emit({ ...base, choices: [], usage: USAGE });
  await emit('[DONE]');
}

/** @param {any} body */
const head = (body) => ({
  id: `chatcmpl-${randomUUID()}`,
  created: Math.floor(Date.now() / 1000),
  model: body.model ?? 'fake-model',
});

/** @param {import('./steer.js').CallAnswer} answer */
const toolCall = (answer) => ({
  id: `call_${randomUUID()}`,
  type: 'function',
  function: { name: answer.name, arguments: JSON.stringify(answer.args) },
});

/** @param {import('./steer.js').Answer} answer */
const finishReason = (answer) => (answer.kind === 'call' ? 'tool_calls' : 'stop');

module.exports = { name: 'openai-chat', matches, read, whole, stream };
