'use strict';

/**
 * Transcripts: a recorded conversation with an agent, as JSON lines.
 *
 * The first line is `{"transcript":1,"agent":"name","version":"…"}`. Each other line is a message:
 * `{"t":<ms since the start>,"dir":"in"|"out","frame":{…}}`, where "in" comes from the agent. What the wire carried that
 * is no whole JSON object (noise, a line longer than the tap shows) has `text` instead of `frame`, and `truncated` where
 * it was cut.
 *
 * @typedef {{ transcript: 1, agent: string, version: string, [more: string]: unknown }} Header
 * @typedef {object} Entry
 * @property {number} t Milliseconds since the start.
 * @property {'in' | 'out'} dir
 * @property {any} [frame] The message.
 * @property {string} [text] What was no message.
 * @property {boolean} [truncated] Whether `text` is only the beginning.
 * @property {number} line Where it stands in the file, from 1.
 * @typedef {{ header: Header, entries: Entry[] }} Transcript
 */

const VERSION = 1;
/** Lines held for the header's sake: the agent's name comes with its answer to `initialize`. */
const MOST_HELD = 1000;

/** What is wrong with a transcript is the message. */
class TranscriptError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'TranscriptError';
  }
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** @param {string} text @param {number} line */
function parseLine(text, line) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TranscriptError(`line ${line} is not JSON`);
  }
  if (!isObject(value)) throw new TranscriptError(`line ${line} is not an object`);
  return value;
}

/**
 * Reads a transcript; empty lines are skipped.
 *
 * @param {string} text
 * @returns {Transcript}
 * @throws {TranscriptError}
 */
function parseTranscript(text) {
  /** @type {Header | undefined} */
  let header;
  /** @type {Entry[]} */
  const entries = [];
  for (const [index, source] of text.split('\n').entries()) {
    if (source.trim() === '') continue;
    const line = index + 1;
    const value = parseLine(source, line);
    if (header === undefined) {
      if (value.transcript === undefined) throw new TranscriptError('the first line is not the header of a transcript');
      if (value.transcript !== VERSION) {
        throw new TranscriptError(`this is version ${JSON.stringify(value.transcript)} of the format; only ${VERSION} is known`);
      }
      const { agent = '', version = '', ...more } = value;
      header = { ...more, transcript: VERSION, agent: String(agent), version: String(version) };
      continue;
    }
    entries.push(entryOf(value, line));
  }
  if (header === undefined) throw new TranscriptError('the file is empty');
  return { header, entries };
}

/** @param {Record<string, any>} value @param {number} line @returns {Entry} */
function entryOf(value, line) {
  const { t, dir, frame, text, truncated } = value;
  if (dir !== 'in' && dir !== 'out') throw new TranscriptError(`line ${line} has no direction: dir is "in" or "out"`);
  const time = typeof t === 'number' && Number.isFinite(t) && t >= 0 ? t : 0;
  if (isObject(frame)) return { t: time, dir, frame, line };
  if (typeof text === 'string') return { t: time, dir, text, truncated: truncated === true, line };
  throw new TranscriptError(`line ${line} has neither a frame nor a text`);
}

/**
 * Makes a transcript of what `onWire` sees. Lines are written as they come, once the header is known.
 *
 * @param {(line: string) => void} write Takes one line, with its end.
 * @param {{ agent?: string }} [options] `agent`: the name in the header, should the agent not give its own.
 */
function transcriptWriter(write, { agent = '' } = {}) {
  /** @type {string[] | undefined} */
  let held = [];
  /** @type {number | undefined} */
  let start;
  /** @type {unknown} */
  let initializeId;

  /** @param {any} [info] */
  const begin = (info) => {
    if (held === undefined) return;
    const name = typeof info?.name === 'string' ? info.name : agent;
    const version = typeof info?.version === 'string' ? info.version : '';
    write(`${JSON.stringify({ transcript: VERSION, agent: name, version })}\n`);
    for (const line of held) write(line);
    held = undefined;
  };

  return {
    /** @param {import('../../types/client').WireFrame} seen */
    frame(seen) {
      start ??= seen.time;
      const dir = seen.direction === 'from_agent' ? 'in' : 'out';
      const t = Math.max(0, seen.time - start);
      const frame = seen.truncated ? undefined : objectOf(seen.frame);
      const line =
        frame === undefined
          ? `${JSON.stringify({ t, dir, text: seen.frame, ...(seen.truncated && { truncated: true }) })}\n`
          // As it was written: nothing of it is lost on the way through JavaScript's numbers.
          : `{"t":${t},"dir":"${dir}","frame":${seen.frame.trim()}}\n`;
      if (held === undefined) {
        write(line);
        return;
      }
      held.push(line);
      if (dir === 'out' && frame?.method === 'initialize') initializeId = frame.id;
      const answered = dir === 'in' && frame !== undefined && frame.method === undefined && frame.id === initializeId;
      if (answered || held.length >= MOST_HELD) begin(frame?.result?.agentInfo);
    },
    /** Writes what is still held. */
    end() {
      if (held !== undefined && held.length > 0) begin();
    },
  };
}

/** @param {string} text @returns {Record<string, any> | undefined} */
function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What a message is.
 *
 * @param {any} frame
 * @returns {'request' | 'notification' | 'response'}
 */
function kindOf(frame) {
  if (typeof frame.method !== 'string') return 'response';
  return frame.id === undefined ? 'notification' : 'request';
}

module.exports = { TranscriptError, kindOf, parseTranscript, transcriptWriter };
