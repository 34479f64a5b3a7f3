'use strict';

/**
 * Segments of a session become typed events. Nothing is built until somebody listens.
 *
 * @typedef {import('../../protocol').SessionEvent} SessionEvent
 */

const { Kind } = require('../native/index.js');

/** Tags of `session/update` in the protocol's schema; anything else is an `unknown` event. */
const TAGS = new Set([
  'user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'tool_call_update', 'plan',
  'plan_update', 'plan_removed', 'available_commands_update', 'current_mode_update', 'config_option_update',
  'session_info_update', 'usage_update', 'notice', 'compaction_update', 'compaction_summary_chunk', 'subagent_update',
  'session_message', 'session_message_chunk', 'prompt_suggestions_update', 'cursor_update',
]);

const CHUNKS = Object.freeze({
  [Kind.TEXT]: 'agent_message_chunk',
  [Kind.THOUGHT]: 'agent_thought_chunk',
  [Kind.USER_TEXT]: 'user_message_chunk',
});

/** What is carried from segment to segment. */
class EventReader {
  /** @param {string} sessionId */
  constructor(sessionId) {
    this.sessionId = sessionId;
    this.messageId = '';
    /** The child session whose updates follow; empty: the session itself. */
    this.child = '';
    this.replaying = false;
    this.turn = false;
    /** Whether a turn has ended: what comes outside of a turn from then on is late. */
    this.late = false;
  }

  /**
   * Takes note of a segment that is no event of its own.
   *
   * @param {number} kind
   * @param {string} text
   * @returns {boolean} Whether it was one.
   */
  note(kind, text) {
    switch (kind) {
      case Kind.MESSAGE_ID:
        this.messageId = text;
        return true;
      case Kind.CHILD:
        this.child = text;
        this.messageId = '';
        return true;
      case Kind.REPLAY:
        this.replaying = text === 'true';
        return true;
      case Kind.TURN:
        this.turn = text === 'true';
        this.late = !this.turn;
        this.messageId = '';
        return true;
      default:
        return false;
    }
  }

  /**
   * @param {number} kind
   * @param {string} text
   * @returns {SessionEvent}
   */
  read(kind, text) {
    const own = this.child === '';
    const sessionId = own ? this.sessionId : this.child;
    const update = kind === Kind.UPDATE ? readUpdate(sessionId, text) : this.chunk(sessionId, kind, text);
    /** @type {any} */
    const event = own
      ? update
      : { type: 'child_session_event', sessionId: this.sessionId, childSessionId: this.child, event: update };
    if (this.replaying) event.replay = true;
    else if (this.late) event.late = true;
    return event;
  }

  /**
   * @param {string} sessionId
   * @param {number} kind
   * @param {string} text
   * @returns {any}
   */
  chunk(sessionId, kind, text) {
    const type = CHUNKS[/** @type {keyof typeof CHUNKS} */ (kind)];
    const event = { type, sessionId, content: { type: 'text', text } };
    if (this.messageId !== '') /** @type {any} */ (event).messageId = this.messageId;
    return event;
  }
}

/**
 * @param {string} sessionId
 * @param {string} text
 * @returns {any}
 */
function readUpdate(sessionId, text) {
  const raw = JSON.parse(text);
  const tag = raw === null || typeof raw !== 'object' ? undefined : raw.sessionUpdate;
  if (!TAGS.has(tag) || !plausible(tag, raw)) return { type: 'unknown', sessionId, raw };
  const { sessionUpdate, sessionId: childSessionId, ...members } = raw;
  const event = { ...members, type: sessionUpdate, sessionId };
  // A subagent's update names the child; every event already names its own session.
  if (childSessionId !== undefined) event.childSessionId = childSessionId;
  return event;
}

/** @param {any} content */
function plausibleBlock(content) {
  return typeof content?.type === 'string' && (content.type !== 'text' || typeof content.text === 'string');
}

/** Whether this is a list of objects. @param {any} value */
function isList(value) {
  return Array.isArray(value) && value.every((item) => item !== null && typeof item === 'object');
}

/** @param {any} value */
function isText(value) {
  return typeof value === 'string';
}

/** Whether the optional members of a tool call are what they should be. @param {any} raw */
function plausibleCall({ kind, status, content, locations }) {
  return isText(kind ?? '') && isText(status ?? '') && isList(content ?? []) && isList(locations ?? []);
}

/**
 * Whether an update has what its type promises; otherwise it is shown raw.
 *
 * @param {string} tag
 * @param {any} raw
 */
function plausible(tag, raw) {
  switch (tag) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'user_message_chunk':
      return plausibleBlock(raw.content);
    case 'tool_call':
      return isText(raw.toolCallId) && isText(raw.title) && plausibleCall(raw);
    case 'tool_call_update':
      return isText(raw.toolCallId) && isText(raw.title ?? '') && plausibleCall(raw);
    case 'plan':
      raw.entries ??= [];
      return isList(raw.entries) && raw.entries.every((/** @type {any} */ entry) => typeof entry.content === 'string');
    case 'notice':
      return isText(raw.title) && isText(raw.severity) && isText(raw.description ?? '');
    case 'available_commands_update':
      return isList(raw.availableCommands);
    case 'config_option_update':
      return isList(raw.configOptions);
    case 'plan_update':
      // Agents on older schemas say `id`.
      if (raw.plan && raw.plan.planId === undefined && typeof raw.plan.id === 'string') raw.plan.planId = raw.plan.id;
      return typeof raw.plan?.planId === 'string';
    case 'plan_removed':
      if (raw.planId === undefined && typeof raw.id === 'string') raw.planId = raw.id;
      return typeof raw.planId === 'string';
    case 'usage_update':
      return Number.isFinite(raw.used) && Number.isFinite(raw.size);
    case 'prompt_suggestions_update':
      raw.suggestions ??= [];
      return Array.isArray(raw.suggestions);
    case 'cursor_update':
      return isText(raw.cursorId);
    case 'current_mode_update':
      return isText(raw.currentModeId);
    default:
      return true;
  }
}

module.exports = { EventReader, TAGS, isList };
