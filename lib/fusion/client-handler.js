'use strict';

/**
 * The methods with which a client answers an agent.
 *
 * @typedef {import('../../types/fusion').AcpClientHandler} AcpClientHandler
 * @typedef {import('../../types/fusion').BridgingClientHandler} BridgingClientHandler
 * @typedef {import('../../protocol').RequestPermissionResponse} RequestPermissionResponse
 */

const { createEventBridge } = require('./event-bridge.js');
const { createFsHandlers } = require('./fs-handlers.js');
const { resolvePermission } = require('./control-handler.js');

/** @returns {RequestPermissionResponse} */
function cancelled() {
  return { outcome: { outcome: 'cancelled' } };
}

/** @returns {AcpClientHandler} */
function createDefaultClientHandler() {
  return {
    async sessionUpdate() {},
    async requestPermission() {
      return cancelled();
    },
    async extMethod() {
      return {};
    },
    async extNotification() {},
  };
}

/** What waits until it is answered, or until everything is cancelled. */
class Drain {
  constructor() {
    this.closed = false;
    this.controller = new AbortController();
    /** @type {Set<() => void>} */
    this.waiting = new Set();
  }

  /**
   * @param {Promise<RequestPermissionResponse>} decision
   * @returns {Promise<RequestPermissionResponse>}
   */
  race(decision) {
    return new Promise((resolve) => {
      const cancel = () => resolve(cancelled());
      this.waiting.add(cancel);
      decision.then(resolve, cancel).finally(() => this.waiting.delete(cancel));
    });
  }

  close() {
    this.closed = true;
    this.controller.abort();
    for (const cancel of this.waiting) cancel();
    this.waiting.clear();
  }
}

/**
 * @param {import('../../types/fusion').AcpCallbacks} callbacks
 * @param {import('../../types/fusion').PermissionGate} [gate]
 * @param {import('../../types/fusion').FsHandlerBuildOptions} [fsOptions]
 * @param {import('../../types/fusion').ResolvePermissionOptions} [permissionOptions]
 * @returns {BridgingClientHandler}
 */
function createBridgingClientHandler(callbacks, gate, fsOptions, permissionOptions) {
  const bridge = createEventBridge(callbacks);
  const drain = new Drain();
  /** @type {AcpClientHandler} */
  const handler = {
    ...createDefaultClientHandler(),
    async sessionUpdate(params) {
      bridge.handleSessionUpdate(params.update);
    },
    async requestPermission(params) {
      if (drain.closed) return cancelled();
      const options = { ...permissionOptions, signal: drain.controller.signal };
      return drain.race(resolvePermission(params.toolCall, params.options, gate, options));
    },
  };
  if (fsOptions !== undefined) {
    Object.assign(handler, createFsHandlers({ ...fsOptions, gate, ...permissionOptions }));
  }
  return { handler, cancelPending: () => drain.close(), resetTurn: () => bridge.reset() };
}

module.exports = { createDefaultClientHandler, createBridgingClientHandler };
