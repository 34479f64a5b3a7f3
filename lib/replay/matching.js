'use strict';

/**
 * Which message of the client is which recorded one. Between two messages of the agent the order of the client's own
 * messages means nothing: only what the agent waits for is matched.
 */

const { isDeepStrictEqual } = require('node:util');

const { kindOf } = require('./transcript');

/** Members of a request that a replay may change: where it runs, and what only one run knows. */
const VARIABLE = new Set(['cwd', '_meta', 'mcpServers', 'additionalDirectories', 'protocolVersion', 'clientInfo', 'clientCapabilities']);

/** Methods of the agent whose answers come from the recorded client's machine; a replay refuses them. */
const SERVICES = /^(?:fs|terminal)\//;

/** @param {any} frame The agent's request. */
function needsService(frame) {
  return SERVICES.test(frame?.method ?? '');
}

/**
 * Whether a message of the client can be the recorded one.
 *
 * @param {any} recorded
 * @param {any} live
 * @param {(id: unknown) => unknown} recordedId The id of an agent's request, as it was recorded.
 */
function matches(recorded, live, recordedId) {
  const kind = kindOf(recorded);
  if (kind !== kindOf(live)) return false;
  if (kind === 'response') return recorded.id === recordedId(live.id);
  return recorded.method === live.method && recorded.params?.sessionId === live.params?.sessionId;
}

/**
 * How a matched message differs from the recorded one; `undefined` when it does not.
 *
 * @param {any} recorded
 * @param {any} live
 * @param {any} [question] The agent's request that a response answers.
 * @returns {string | undefined}
 */
function difference(recorded, live, question) {
  if (kindOf(recorded) === 'response') return responseDifference(recorded, live, question);
  if (recorded.method === '$/cancel_request') return undefined;
  const wanted = constant(recorded.params);
  const got = constant(live.params);
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(got)])) {
    if (!isDeepStrictEqual(wanted[name], got[name])) {
      return `${recorded.method} has another ${name}: ${shown(wanted[name])} was recorded, ${shown(got[name])} was sent`;
    }
  }
  return undefined;
}

/** @param {any} recorded @param {any} live @param {any} question */
function responseDifference(recorded, live, question) {
  if (needsService(question)) return undefined;
  const name = question?.method ?? 'a request';
  const wanted = recorded.error === undefined ? { result: recorded.result } : { error: recorded.error.code };
  const got = live.error === undefined ? { result: live.result } : { error: live.error.code };
  if (isDeepStrictEqual(wanted, got)) return undefined;
  return `${name} was answered with ${shown(wanted)}, and now with ${shown(got)}`;
}

/** @param {unknown} params @returns {Record<string, unknown>} */
function constant(params) {
  if (params === null || typeof params !== 'object') return params === undefined ? {} : { params };
  return Object.fromEntries(Object.entries(params).filter(([name]) => !VARIABLE.has(name)));
}

/** @param {unknown} value */
function shown(value) {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text;
}

/** @param {any} frame */
function describe(frame) {
  switch (kindOf(frame)) {
    case 'response':
      return `the answer to request ${shown(frame.id)}`;
    case 'request':
      return `the request ${frame.method}`;
    default:
      return `the notification ${frame.method}`;
  }
}

module.exports = { describe, difference, matches, needsService, shown };
