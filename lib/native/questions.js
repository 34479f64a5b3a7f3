'use strict';

const { getHub } = require('./hub.js');

/**
 * What a host may answer. A handler that is absent, throws or answers nonsense means the denying default.
 *
 * @typedef {object} Handlers
 * @property {(request: any, signal: AbortSignal) => any} [permission]
 * @property {(request: { sessionId: string, path: string }, signal: AbortSignal) => any} [write]
 * @property {(params: any) => any} [readTextFile] serves reads instead of the runtime
 * @property {(params: any) => any} [writeTextFile] serves writes instead of the runtime
 * @property {(params: any, signal: AbortSignal) => any} [command]
 * @property {(params: any, signal: AbortSignal) => any} [elicitation]
 * @property {(method: string, params: any, signal: AbortSignal) => any} [extension]
 * @property {(message: any, signal: AbortSignal) => any} [mcp] a request to an MCP server of the host
 * @property {(method: string, params: any) => unknown} [notification]
 * @property {(frame: any) => unknown} [wire]
 */

/** What a cancelled turn may no longer do. Permission requests are taken back natively. */
const APPROVALS = new Set(['write', 'command']);

/** The open questions of one client, and what to do when one is withdrawn. */
class Questions {
  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.handlers = handlers;
    /** @type {Map<number, { kind: string, controller: AbortController, session?: object }>} */
    this.open = new Map();
  }

  /**
   * @param {any} question
   * @param {object} [session] Whose channel it came through.
   */
  ask(question, session) {
    const { request, kind } = question;
    const controller = new AbortController();
    this.open.set(request, { kind, controller, session });
    this.answer(question, controller.signal)
      .then((answer) => encoded(kind, answer))
      // What was thrown throws when it is looked at.
      .catch(() => JSON.stringify(failed(kind, undefined)))
      .then((answer) => this.settle(request, answer));
  }

  /**
   * @param {number} request
   * @param {string} answer
   */
  settle(request, answer) {
    if (this.open.delete(request)) getHub().native.answer(request, answer);
  }

  /**
   * The agent no longer waits.
   *
   * @param {number} request
   */
  withdraw(request) {
    const question = this.open.get(request);
    this.open.delete(request);
    question?.controller.abort();
  }

  /**
   * The session is gone, and with it the channel that would tell.
   *
   * @param {object} session
   */
  withdrawOf(session) {
    for (const [request, question] of [...this.open]) if (question.session === session) this.withdraw(request);
  }

  /**
   * The session's turn was cancelled: what the host was to allow for it is refused.
   *
   * @param {object} session
   */
  refuseOf(session) {
    for (const [request, question] of [...this.open]) {
      if (question.session !== session || !APPROVALS.has(question.kind)) continue;
      this.settle(request, JSON.stringify(false));
      question.controller.abort();
    }
  }

  /** The connection ended. */
  withdrawAll() {
    for (const request of [...this.open.keys()]) this.withdraw(request);
  }

  /**
   * Never rejects.
   *
   * @param {any} question
   * @param {AbortSignal} signal
   * @returns {Promise<unknown>}
   */
  async answer(question, signal) {
    const { handlers } = this;
    try {
      switch (question.kind) {
        case 'permission':
          return decision(await handlers.permission?.(question.permission, signal));
        case 'write':
          return (await handlers.write?.({ sessionId: question.sessionId, path: question.path }, signal)) === true;
        case 'file':
          return { result: await file(handlers, question) };
        case 'command':
          return (await handlers.command?.(question.params, signal)) === true;
        case 'elicitation':
          return { result: (await handlers.elicitation?.(question.params, signal)) ?? { action: 'cancel' } };
        case 'mcp':
          return served(await handlers.mcp?.(question.message, signal));
        case 'extension':
          return served(await handlers.extension?.(question.method, question.params ?? undefined, signal));
        default:
          return null;
      }
    } catch (error) {
      return failed(question.kind, error);
    }
  }
}

/** @param {unknown} result of a handler that may not know the method */
const served = (result) => (result === undefined ? { unknown: {} } : { result });

/**
 * @param {string} kind
 * @param {unknown} answer
 * @returns {string}
 */
function encoded(kind, answer) {
  try {
    return JSON.stringify(answer);
  } catch (error) {
    // What a handler returned is no JSON: a circle, a BigInt, a getter that throws.
    return JSON.stringify(failed(kind, error));
  }
}

/**
 * A file request that the host serves itself.
 *
 * @param {Handlers} handlers
 * @param {{ method: string, params: any }} question
 * @returns {Promise<object>} the result, in the protocol's shape
 */
async function file(handlers, { method, params }) {
  if (method !== 'fs/read_text_file') return (await handlers.writeTextFile?.(params)) ?? {};
  const result = await handlers.readTextFile?.(params);
  if (typeof result?.content !== 'string') throw new TypeError('the client read no text');
  return result;
}

/**
 * @param {any} answer
 * @returns {object}
 */
function decision(answer) {
  const decided = answer !== null && typeof answer === 'object' ? answer.decision : undefined;
  if (decided === 'allow' || decided === 'cancel') return { decision: decided };
  if (decided === 'select' && typeof answer.optionId === 'string') return { decision: 'select', optionId: answer.optionId };
  return { decision: 'deny' };
}

/**
 * @param {string} kind
 * @param {any} error
 * @returns {unknown}
 */
function failed(kind, error) {
  switch (kind) {
    case 'permission':
      return { decision: 'deny' };
    case 'elicitation':
      return { result: { action: 'cancel' } };
    case 'file':
    case 'mcp':
    case 'extension': {
      // A host may answer with a code of its own; its message goes to the agent, its stack does not.
      const { code, data } = error?.rpc ?? error ?? {};
      const message = error instanceof Error ? error.message : 'the client failed to handle the request';
      return { error: { code: Number.isInteger(code) ? code : -32603, message, data: data ?? null } };
    }
    default:
      return false;
  }
}

module.exports = { Questions };
