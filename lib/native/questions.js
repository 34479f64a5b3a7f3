'use strict';

const { getHub } = require('./hub.js');

/**
 * What a host may answer. A handler that is absent, throws or answers nonsense means the denying default.
 *
 * @typedef {object} Handlers
 * @property {(request: any, signal: AbortSignal) => any} [permission]
 * @property {(request: { sessionId: string, path: string }) => any} [write]
 * @property {(params: any) => any} [command]
 * @property {(params: any, signal: AbortSignal) => any} [elicitation]
 * @property {(method: string, params: any) => any} [extension]
 * @property {(method: string, params: any) => void} [notification]
 * @property {(frame: any) => void} [wire]
 */

/** The open questions of one client, and what to do when one is withdrawn. */
class Questions {
  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.handlers = handlers;
    /** @type {Map<number, AbortController>} */
    this.open = new Map();
  }

  /** @param {any} question */
  ask(question) {
    const { request } = question;
    const controller = new AbortController();
    this.open.set(request, controller);
    this.answer(question, controller.signal).then((answer) => {
      if (this.open.delete(request)) getHub().native.answer(request, JSON.stringify(answer));
    });
  }

  /**
   * The agent no longer waits.
   *
   * @param {number} request
   */
  withdraw(request) {
    const controller = this.open.get(request);
    this.open.delete(request);
    controller?.abort();
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
          return (await handlers.write?.({ sessionId: question.sessionId, path: question.path })) === true;
        case 'command':
          return (await handlers.command?.(question.params)) === true;
        case 'elicitation':
          return { result: (await handlers.elicitation?.(question.params, signal)) ?? { action: 'cancel' } };
        case 'extension': {
          const result = await handlers.extension?.(question.method, question.params ?? undefined);
          return result === undefined ? { unknown: {} } : { result };
        }
        default:
          return null;
      }
    } catch (error) {
      return failed(question.kind, error);
    }
  }
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
    case 'extension': {
      // A host may answer with a code of its own; its message goes to the agent, its stack does not.
      const code = Number.isInteger(error?.code) ? error.code : -32603;
      const message = error instanceof Error ? error.message : 'the client failed to handle the request';
      return { error: { code, message, data: error?.data ?? null } };
    }
    default:
      return false;
  }
}

module.exports = { Questions };
