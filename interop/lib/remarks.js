'use strict';

/** What an agent does on the wire that a client must be able to cope with, found while the checks run. */

/** Each remark: what the agent did, and how the runtime copes. */
const REMARKS = {
  'early-update': [
    'Updates arrive before the answer to `session/new`.',
    "They are kept until the session's id is known.",
  ],
  'resume-replays': [
    'History is replayed on `session/resume`.',
    'It is marked as history, and nothing of it is in the text of a turn.',
  ],
  'late-update': ['Updates arrive after the answer to the prompt.', 'They are events of the session, not of the turn.'],
  'unknown-update': [
    'A tool call is updated that was not announced.',
    'An update for an unknown id is an event like any other.',
  ],
  'unknown-permission': [
    'Permission is asked for a tool call that was not announced.',
    'The request stands for itself, and is decided as any other.',
  ],
  'announced-twice': ['A tool call is announced twice.', 'Both announcements are events of the turn.'],
  unfinished: [
    'A turn ends with `end_turn` or `refusal` while a tool call of it is not completed.',
    'The turn ends with the answer to the prompt, whatever its tool calls say.',
  ],
  'cancel-error': [
    'A cancelled prompt is answered with an error.',
    'A turn that was asked to cancel ends as cancelled.',
  ],
  'plain-text': ['Text that is no JSON is written to stdout.', 'The line is skipped.'],
  'needs-sigterm': ['It was still alive two seconds after its stdin was closed.', 'SIGTERM follows.'],
  'needs-sigkill': [
    'It was still alive two seconds after its stdin was closed, and after SIGTERM.',
    'SIGKILL follows.',
  ],
};

/** @typedef {keyof typeof REMARKS} Remark */

/** Session updates that are the session's own, at whatever time they come. */
const ANY_TIME = new Set([
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
]);

const CHUNK = /^(user|agent)_message_chunk$/;

/** Watches one connection. */
class Watcher {
  /** @type {Set<Remark>} */
  found = new Set();
  /** Requests to the agent that wait for their answer, by id. @type {Map<unknown, string>} */
  #pending = new Map();
  /** Tool calls and whether each was completed. @type {Map<string, boolean>} */
  #calls = new Map();
  #sessions = new Set();
  #prompted = false;
  #cancelled = false;
  /** A line was cut: what follows cannot be judged. */
  #blind = false;

  /** @param {{ direction: string, frame: string, truncated: boolean }} wire */
  see({ direction, frame, truncated }) {
    if (truncated) this.#blind = true;
    if (this.#blind) return;
    /** @type {any} */
    let message;
    try {
      message = JSON.parse(frame);
    } catch {
      // A mask over a secret may leave JSON that does not parse: it is no fault of the agent, and may hide an answer.
      if (/^\s*[{[]/.test(frame)) this.#blind = [...this.#pending.values()].some((method) => method !== 'initialize');
      else if (frame.trim()) this.found.add('plain-text');
      return;
    }
    if (direction === 'to_agent') this.#sent(message);
    else this.#received(message);
  }

  /** @param {{ exitCode?: number | null, signal?: string | null }} exit how the agent ended after `close()` */
  closed({ exitCode, signal }) {
    if (signal === 'SIGKILL') this.found.add('needs-sigkill');
    else if (signal === 'SIGTERM' || exitCode === 143) this.found.add('needs-sigterm');
  }

  /** @param {any} message */
  #sent({ id, method, params }) {
    if (method === 'session/cancel') this.#cancelled = true;
    if (method === undefined || id === undefined) return;
    this.#pending.set(id, method);
    // The client names these sessions itself: nothing of them can come too early.
    if (method === 'session/load' || method === 'session/resume') this.#sessions.add(params?.sessionId);
    if (method !== 'session/prompt') return;
    this.#prompted = true;
    this.#cancelled = false;
    this.#calls.clear();
  }

  /** @param {any} message */
  #received({ id, method, params, result, error }) {
    if (method === 'session/update') this.#update(params?.sessionId, params?.update ?? {});
    else if (method === 'session/request_permission') {
      if (!this.#calls.has(params?.toolCall?.toolCallId)) this.found.add('unknown-permission');
    } else if (method === undefined) this.#answered(this.#pending.get(id), result, error);
    if (method === undefined) this.#pending.delete(id);
  }

  /**
   * @param {string | undefined} method
   * @param {any} result
   * @param {any} error
   */
  #answered(method, result, error) {
    if (['session/new', 'session/fork'].includes(method ?? '') && result) this.#sessions.add(result.sessionId);
    if (method !== 'session/prompt') return;
    if (error && this.#cancelled) this.found.add('cancel-error');
    const open = [...this.#calls.values()].some((completed) => !completed);
    if (open && ['end_turn', 'refusal'].includes(result?.stopReason)) this.found.add('unfinished');
  }

  /**
   * @param {string} sessionId
   * @param {any} update
   */
  #update(sessionId, { sessionUpdate, toolCallId, status }) {
    const pending = [...this.#pending.values()];
    // What a reopened session is told before its answer is its history.
    const reopening = pending.some((method) => ['session/load', 'session/resume', 'session/fork'].includes(method));
    if (!this.#sessions.has(sessionId) && !reopening) this.found.add('early-update');
    if (pending.includes('session/resume') && CHUNK.test(sessionUpdate)) this.found.add('resume-replays');
    const inTurn = pending.includes('session/prompt');
    if (this.#prompted && !inTurn && !reopening && !ANY_TIME.has(sessionUpdate)) this.found.add('late-update');
    if (sessionUpdate === 'tool_call') {
      if (this.#calls.has(toolCallId)) this.found.add('announced-twice');
      this.#calls.set(toolCallId, ['completed', 'failed'].includes(status));
    } else if (sessionUpdate === 'tool_call_update') {
      if (!this.#calls.has(toolCallId)) this.found.add('unknown-update');
      if (['completed', 'failed'].includes(status)) this.#calls.set(toolCallId, true);
    }
  }
}

module.exports = { REMARKS, Watcher };
