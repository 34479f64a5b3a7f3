'use strict';

/** Session updates as bounded, sanitised callbacks. The state is native; this hands over updates and calls back. */

const binding = require('../../binding.js');
const { heed } = require('../native/hub.js');

/** UTF-16 code units of text and thinking per turn. */
const PER_TURN_OUTPUT_CAP_CHARS = 5_000_000;
/** UTF-16 code units per chunk. */
const PER_CHUNK_CAP_CHARS = 64_000;
/** Tool calls that are tracked. */
const TOOL_CALL_MAP_CAP = 1000;
/** Entries of a plan that are shown. */
const MAX_PLAN_ENTRIES = 100;

/** Code units of a plan's entries that are looked at: many times what is shown. */
const PLAN_INPUT_CHARS = 16 * PER_CHUNK_CAP_CHARS;

/** @typedef {import('../../types/fusion').AcpCallbacks} AcpCallbacks */

/**
 * The update as JSON. Of a plan that is far too long, the entries that could not be shown go without their content.
 *
 * @param {any} update
 * @returns {string | undefined}
 */
function toJson(update) {
  if (update?.sessionUpdate !== 'plan' || !Array.isArray(update.entries)) return JSON.stringify(update);
  let room = PLAN_INPUT_CHARS;
  const entries = update.entries.map((/** @type {any} */ entry) => {
    if (typeof entry?.content !== 'string') return entry;
    const content = room > 0 ? entry.content.slice(0, room) : '';
    room -= content.length;
    return { content, status: entry.status };
  });
  return JSON.stringify({ sessionUpdate: 'plan', entries });
}

function ignore() {}

/**
 * @param {AcpCallbacks} callbacks
 * @param {any[]} event
 * @returns {unknown}
 */
function tell(callbacks, event) {
  switch (event[0]) {
    case 'text':
      return callbacks.onText?.(event[1]);
    case 'thinking':
      return callbacks.onThinking?.(event[1]);
    case 'start':
      return callbacks.onToolStart?.(event[1], event[2] ?? {});
    default:
      return callbacks.onToolEnd?.(event[1], event[2], event[3]);
  }
}

/**
 * @param {AcpCallbacks} callbacks
 * @param {any[]} event
 */
function emit(callbacks, event) {
  try {
    heed(tell(callbacks, event), ignore);
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
        json = toJson(update);
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
