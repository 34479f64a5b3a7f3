'use strict';

/** Gemini generateContent and streamGenerateContent. */

const { joined } = require('./text.js');
const { sample } = require('./tools.js');

const USAGE = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 };

/** @param {string} path */
const matches = (path) => /:(stream)?generateContent$/i.test(path);

/**
 * @param {any} body
 * @param {string} path
 */
function read(body, path) {
  return {
    messages: body.contents ?? [],
    isOurs: (/** @type {any} */ content) => content.role === 'model',
    isToolResult: (/** @type {any} */ content) =>
      (content.parts ?? []).some((/** @type {any} */ part) => part.functionResponse),
    tools: (body.tools ?? [])
      .flatMap((/** @type {any} */ tool) => tool.functionDeclarations ?? [])
      .map((/** @type {any} */ tool) => ({ name: tool.name, schema: tool.parametersJsonSchema ?? tool.parameters })),
    stream: /:streamGenerateContent$/i.test(path),
  };
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 */
async function whole(body, answer) {
  return part(
    (await structured(body)) ?? (answer.kind === 'call' ? call(answer) : { text: await joined(answer) }),
    true,
  );
}

/**
 * @param {any} body
 * @param {import('./steer.js').Answer} answer
 * @param {import('./server.js').Emit} emit
 */
async function stream(body, answer, emit) {
  const json = structured(body);
  if (json) return emit(part(json, true));
  if (answer.kind === 'call') return emit(part(call(answer), true));
  for await (const text of answer.pieces()) await emit(part({ text }, false));
  return emit(part({ text: '' }, true));
}

/** Side questions of the agent want JSON of a given shape. @param {any} body */
function structured(body) {
  const config = body.generationConfig ?? {};
  if (!String(config.responseMimeType ?? '').includes('json')) return undefined;
  return { text: JSON.stringify(sample(config.responseJsonSchema ?? config.responseSchema ?? { type: 'object' })) };
}

/** @param {import('./steer.js').CallAnswer} answer */
const call = (answer) => ({ functionCall: { name: answer.name, args: answer.args } });

/**
 * @param {object} content
 * @param {boolean} last
 */
const part = (content, last) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [content] }, ...(last ? { finishReason: 'STOP' } : {}) }],
  usageMetadata: USAGE,
  modelVersion: 'fake-model',
});

module.exports = { name: 'gemini', matches, read, whole, stream };
