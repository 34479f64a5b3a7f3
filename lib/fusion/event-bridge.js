'use strict';

/** Session updates as bounded, sanitised callbacks. The state is native; this hands over updates and calls back. */

const binding = require('../../binding.js');

/** UTF-16 code units of text and thinking per turn. */
const PER_TURN_OUTPUT_CAP_CHARS = 5_000_000;
/** UTF-16 code units per chunk. */
const PER_CHUNK_CAP_CHARS = 64_000;
/** Tool calls that are tracked. */
const TOOL_CALL_MAP_CAP = 1000;
/** Entries of a plan that are shown. */
const MAX_PLAN_ENTRIES = 100;

/** @typedef {import('../../types/fusion').AcpCallbacks} AcpCallbacks */

/**
 * @param {AcpCallbacks} callbacks
 * @param {any[]} event
 */
function emit(callbacks, event) {
  try {
    switch (event[0]) {
      case 'text':
        callbacks.onText?.(event[1]);
        break;
      case 'thinking':
        callbacks.onThinking?.(event[1]);
        break;
      case 'start':
        callbacks.onToolStart?.(event[1], event[2] ?? {});
        break;
      default:
        callbacks.onToolEnd?.(event[1], event[2], event[3]);
    }
  } catch {
    // A host's callback must not cost the rest of the turn.
  }
}

/**
 * @param {AcpCallbacks} callbacks
 * @returns {import('../../types/fusion').EventBridge}
 */
function createEventBridge(callbacks) {
  const native = new binding.NativeBridge();
  return {
    handleSessionUpdate(update) {
      let json;
      try {
        json = JSON.stringify(update);
      } catch {
        return;
      }
      const events = json === undefined ? null : native.handle(json);
      if (events) for (const event of JSON.parse(events)) emit(callbacks, event);
    },
    reset() {
      native.reset();
    },
  };
}

module.exports = {
  PER_TURN_OUTPUT_CAP_CHARS, PER_CHUNK_CAP_CHARS, TOOL_CALL_MAP_CAP, MAX_PLAN_ENTRIES, createEventBridge,
};
