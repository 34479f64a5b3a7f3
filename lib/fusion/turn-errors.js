'use strict';

/**
 * What a failed turn says. Hosts decide by this text whether to try again, so the format is a contract:
 * `<message> (acp rpc code <code>[, retryable])[ [data: <data>]]`.
 */

const { AcpAuthRequiredError, AcpError } = require('../errors.js');
const { isObject } = require('./tool-mapping.js');

/** UTF-16 code units of `data` that a message shows. */
const SHOWN_DATA = 500;
/** UTF-16 code units of stderr that a message shows. */
const SHOWN_STDERR = 500;
const INTERNAL_ERROR = -32603;
const AUTH_REQUIRED = -32000;
const RESOURCE_NOT_FOUND = -32002;
const SERVER_ERRORS = [-32000, -32001, -32002, -32003];

/** @typedef {import('../../types/connection').AcpTurnErrorDetail} AcpTurnErrorDetail */

/**
 * The part that carries the agent's code: the error itself, what the runtime kept of it, or a nested `error`.
 *
 * @param {Record<string, any>} error
 * @returns {Record<string, any> | undefined}
 */
function rpcPart(error) {
  if (typeof error.code === 'number') return error;
  return [error.rpc, error.error].find((part) => isObject(part) && typeof part.code === 'number');
}

/**
 * Whether trying again can help. Of its own errors the runtime knows that a missing login and a missing resource do not
 * go away by themselves; of a bare code it does not know what the agent meant.
 *
 * @param {unknown} error
 * @param {number} code
 * @returns {boolean}
 */
function isRetryable(error, code) {
  if (error instanceof AcpError && (code === AUTH_REQUIRED || code === RESOURCE_NOT_FOUND)) return false;
  return code === INTERNAL_ERROR || SERVER_ERRORS.includes(code);
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function messageOf(error) {
  if (error === null || error === undefined) return 'unknown error';
  if (typeof error === 'string') return error === '' ? 'unknown error' : error;
  const { message } = /** @type {any} */ (error);
  if (typeof message === 'string' && message !== '') return message;
  try {
    return String(error);
  } catch {
    return 'unknown error';
  }
}

/**
 * @param {unknown} error
 * @returns {AcpTurnErrorDetail}
 */
function inspectAcpTurnError(error) {
  const rpc = typeof error === 'object' && error !== null ? rpcPart(error) : undefined;
  if (!rpc) return { message: messageOf(error), code: undefined, retryable: false };
  const message = typeof rpc.message === 'string' && rpc.message !== '' ? rpc.message : messageOf(error);
  /** @type {AcpTurnErrorDetail} */
  const detail = { message, code: rpc.code, retryable: isRetryable(error, rpc.code) };
  if (rpc.data !== undefined) detail.data = rpc.data;
  return detail;
}

/**
 * @param {unknown} data
 * @returns {string}
 */
function shownData(data) {
  if (typeof data === 'string') return data;
  try {
    const json = JSON.stringify(data);
    return json === '{}' || json === undefined ? '' : json;
  } catch {
    return String(data);
  }
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function describeAcpTurnError(error) {
  const { message, code, data, retryable } = inspectAcpTurnError(error);
  if (code === undefined) return message;
  const shown = data === undefined ? '' : shownData(data).slice(0, SHOWN_DATA);
  return `${message} (acp rpc code ${code}${retryable ? ', retryable' : ''})${shown === '' ? '' : ` [data: ${shown}]`}`;
}

/**
 * The message of a turn that failed in an engine. A lost agent says how it ended and what it said last, in the wording
 * that engines take for a passing fault; so does a turn that stood still.
 *
 * @param {unknown} error
 * @returns {string}
 */
function describeTurnFailure(error) {
  const described = describeAcpTurnError(error);
  if (!(error instanceof AcpError) || error.rpc || !['agent_exited', 'connection_closed', 'turn_stalled'].includes(error.code)) {
    return described;
  }
  const tail = error.stderrTail?.trim();
  const said = tail && !described.includes(tail) ? `: ${tail.slice(-SHOWN_STDERR)}` : '';
  return `ACP turn failed: ${described}${said}`;
}

/**
 * @param {unknown} error
 * @param {string} [stallHint] what may be the matter with an agent that fell silent
 * @returns {Error}
 */
function turnError(error, stallHint) {
  const described = describeTurnFailure(error);
  const stalled = error instanceof AcpError && error.code === 'turn_stalled';
  const message = stalled && stallHint !== undefined ? `${described} (${stallHint})` : described;
  if (!(error instanceof AcpError)) return new Error(message, { cause: error });
  const { code, phase, rpc, exit, stderrTail, retryable, promptMayHaveBeenSent, partialText, extra } = error;
  const init = { phase, rpc, exit, stderrTail, retryable, promptMayHaveBeenSent, partialText, extra, cause: error };
  if (error instanceof AcpAuthRequiredError) return new AcpAuthRequiredError(error.availableMethodIds, { ...init, message });
  return new AcpError(code, message, init);
}

module.exports = { inspectAcpTurnError, describeAcpTurnError, turnError };
