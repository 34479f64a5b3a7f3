'use strict';

/**
 * What a transcript says must come of it: its turns with their text, events, tool calls and ends, and what the runtime
 * will count as odd.
 *
 * @typedef {{ title?: string, kind?: string, status?: string }} ToolCall
 * @typedef {object} Turn
 * @property {string} sessionId
 * @property {number} line Where the turn ends in the file; its last line when it does not end.
 * @property {string} text
 * @property {Record<string, number>} events Events by kind.
 * @property {Record<string, ToolCall>} toolCalls What is known of each at the end.
 * @property {string} [stopReason]
 * @property {number} [error] The code of the error that the prompt was answered with.
 */

const { isDeepStrictEqual } = require('node:util');

const { needsService, shown } = require('./matching');
const { kindOf } = require('./transcript');

/** @param {string} sessionId @param {number} line @returns {Turn} */
function newTurn(sessionId, line) {
  return { sessionId, line, text: '', events: {}, toolCalls: {} };
}

/**
 * What a record has under a name that the agent chose: its own entry, whatever else objects have under such a name.
 *
 * @template T
 * @param {Record<string, T>} record
 * @param {string} name
 * @param {T} fresh What it gets when it has none.
 * @returns {T}
 */
function entry(record, name, fresh) {
  if (!Object.hasOwn(record, name)) {
    Object.defineProperty(record, name, { value: fresh, writable: true, enumerable: true, configurable: true });
  }
  return record[name];
}

/**
 * Notes one update in a turn.
 *
 * @param {Turn} turn
 * @param {any} update With its tag in `sessionUpdate`.
 */
function note(turn, update) {
  const kind = typeof update?.sessionUpdate === 'string' ? update.sessionUpdate : 'unknown';
  // A chunk without text is no event, unless something else comes with it.
  if (kind.endsWith('_chunk') && update.content?.type === 'text' && update.content.text === '') return;
  const count = entry(turn.events, kind, 0);
  turn.events[kind] = count + 1;
  if (kind === 'agent_message_chunk' && update.content?.type === 'text') turn.text += update.content.text;
  if ((kind !== 'tool_call' && kind !== 'tool_call_update') || typeof update.toolCallId !== 'string') return;
  const call = entry(turn.toolCalls, update.toolCallId, {});
  for (const name of /** @type {const} */ (['title', 'kind', 'status'])) {
    if (typeof update[name] === 'string') call[name] = update[name];
  }
}

/**
 * The turns of a transcript, in the order of their prompts.
 *
 * @param {import('./transcript').Entry[]} entries
 * @returns {Turn[]}
 */
function expectedTurns(entries) {
  /** @type {Turn[]} */
  const turns = [];
  /** The running turn of each prompt's id, and of each session. @type {Map<unknown, Turn>} */
  const byId = new Map();
  /** @type {Map<string, Turn>} */
  const bySession = new Map();
  for (const { dir, frame, line } of entries) {
    if (frame === undefined) continue;
    if (dir === 'out' && frame.method === 'session/prompt') {
      const turn = newTurn(frame.params?.sessionId, entries.at(-1)?.line ?? line);
      turns.push(turn);
      byId.set(frame.id, turn);
      bySession.set(turn.sessionId, turn);
    } else if (dir === 'in' && frame.method === 'session/update') {
      const turn = bySession.get(frame.params?.sessionId);
      if (turn !== undefined) note(turn, frame.params.update);
    } else if (dir === 'in' && kindOf(frame) === 'response' && byId.has(frame.id)) {
      const turn = /** @type {Turn} */ (byId.get(frame.id));
      byId.delete(frame.id);
      bySession.delete(turn.sessionId);
      turn.line = line;
      if (frame.error !== undefined) turn.error = frame.error?.code;
      else turn.stopReason = frame.result?.stopReason ?? '';
    }
  }
  return turns;
}

/**
 * How a turn differs from the recorded one. What an agent writes for a terminal is no difference: the runtime cleans it.
 *
 * @param {Turn} recordedAsSent
 * @param {Turn} liveAsShown
 * @param {(text: string) => string} clean Takes control sequences out.
 * @returns {string | undefined}
 */
function turnDifference(recordedAsSent, liveAsShown, clean) {
  const [recorded, live] = [cleaned(recordedAsSent, clean), cleaned(liveAsShown, clean)];
  // An end that was not recorded, or an error after a cancel, which the runtime reports as cancelled (rule C48).
  const ended = recorded.stopReason !== undefined;
  for (const name of /** @type {const} */ (['text', 'stopReason', 'events', 'toolCalls'])) {
    if (name === 'stopReason' && !ended) continue;
    if (!isDeepStrictEqual(recorded[name], live[name])) {
      return `the turn has another ${name}: ${shown(recorded[name])} was recorded, ${shown(live[name])} came of it`;
    }
  }
  return undefined;
}

/** @param {Turn} turn @param {(text: string) => string} clean @returns {Turn} */
function cleaned(turn, clean) {
  const toolCalls = Object.entries(turn.toolCalls).map(([id, call]) => {
    const words = Object.entries(call).map(([name, text]) => [name, clean(text)]);
    return [clean(id), Object.fromEntries(words)];
  });
  return { ...turn, text: clean(turn.text), toolCalls: Object.fromEntries(toolCalls) };
}

/**
 * The counters that a replay must end with; those not named must be zero. `expect.diagnostics` of the header adds to them.
 *
 * @param {import('./transcript').Transcript} transcript
 * @returns {Record<string, number>}
 */
function expectedDiagnostics({ header, entries }) {
  /** @type {Record<string, number>} */
  const expected = {};
  const count = (/** @type {string} */ name) => {
    expected[name] = (expected[name] ?? 0) + 1;
  };
  const refused = new Set();
  const abandoned = new Set();
  for (const { dir, frame } of entries) {
    if (dir !== 'out' || frame === undefined) continue;
    if (frame.error !== undefined) refused.add(frame.id);
    if (frame.method === '$/cancel_request') abandoned.add(frame.params?.requestId);
  }
  for (const { dir, frame } of entries) {
    if (dir !== 'in') continue;
    if (frame === undefined) count('noiseLines');
    else if (kindOf(frame) === 'response' && abandoned.has(frame.id)) count('lateResponses');
    // An extension's request is put to the host, whatever it answers.
    else if (kindOf(frame) === 'request' && (needsService(frame) || (refused.has(frame.id) && !frame.method.startsWith('_')))) {
      count('refusedRequests');
    }
  }
  const more = /** @type {any} */ (header).expect?.diagnostics;
  return { ...expected, ...more };
}

/** Counters that only measure. */
const MEASURES = new Set(['bytesReceived', 'messagesReceived']);

/**
 * The counters that are not as expected, each as a line.
 *
 * @param {Record<string, any>} diagnostics
 * @param {Record<string, number>} expected
 */
function unexpectedDiagnostics(diagnostics, expected) {
  return Object.entries(diagnostics)
    .filter(([name, value]) => typeof value === 'number' && !MEASURES.has(name) && value !== (expected[name] ?? 0))
    .map(([name, value]) => `${name} is ${value}, not ${expected[name] ?? 0}`);
}

module.exports = { expectedDiagnostics, expectedTurns, newTurn, note, turnDifference, unexpectedDiagnostics };
