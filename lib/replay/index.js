'use strict';

/**
 * Plays a transcript against the runtime: an agent that says what the recorded one said, and a host that does what the
 * recorded one did. Nothing of the recorded machine is touched: file and terminal requests are refused, and sessions are
 * opened in the folder given.
 *
 * @typedef {import('./transcript').Entry} Entry
 * @typedef {import('./expected').Turn} Turn
 *
 * @typedef {object} Outcome
 * @property {boolean} ok Whether everything was as recorded.
 * @property {string} agent
 * @property {string} version
 * @property {{ in: number, out: number }} messages In the transcript.
 * @property {Turn[]} turns
 * @property {Record<string, any>} diagnostics
 * @property {string[]} unexpected Diagnostics that the transcript does not explain.
 * @property {{ line: number, problem: string }} [divergence] The first one.
 * @property {any} [error] Why the launch failed. Not a divergence where the recorded one failed, too.
 */

const path = require('node:path');

const { Driver } = require('./driver');
const { expectedDiagnostics, expectedTurns, turnDifference, unexpectedDiagnostics } = require('./expected');
const { parseTranscript, TranscriptError, transcriptWriter } = require('./transcript');

/** How long either side waits for the other's next message, in milliseconds. */
const PATIENCE_MS = 10_000;

const agentFile = path.join(__dirname, 'agent.js');

/**
 * @param {Pick<typeof import('../../index.js'), 'AcpClient' | 'stripControlSequences'>} api
 * @param {object} options
 * @param {string} options.file The transcript.
 * @param {string} options.text Its content.
 * @param {string} options.cwd Absolute; where the agent runs and sessions are opened.
 * @param {Record<string, string>} options.env The agent's environment.
 * @param {AbortSignal} [options.signal] Ends the replay.
 * @param {number} [options.patienceMs]
 * @returns {Promise<Outcome>}
 * @throws {TranscriptError}
 */
async function replay(api, { file, text, cwd, env, signal, patienceMs = PATIENCE_MS }) {
  const transcript = parseTranscript(text);
  const { header, entries } = transcript;
  const cut = entries.find((entry) => entry.truncated);
  if (cut !== undefined) throw new TranscriptError(`line ${cut.line} was cut when it was recorded, so nothing can follow it`);
  if (!entries.some(({ dir, frame }) => dir === 'out' && frame?.method === 'initialize')) {
    throw new TranscriptError('the client never initializes');
  }
  const driver = new Driver(api, entries, cwd, patienceMs);
  const launch = {
    command: process.execPath,
    args: [agentFile, path.resolve(file)],
    cwd,
    env: { ...env, ACP_REPLAY_PATIENCE_MS: String(patienceMs) },
    initializeTimeoutMs: patienceMs * 3,
    ...(signal && { signal }),
  };
  const { turns, diagnostics, divergence, error } = await driver.run(launch, signal);
  const unexpected = unexpectedDiagnostics(diagnostics, expectedDiagnostics(transcript));
  const first = divergence ?? firstTurnDifference(expectedTurns(entries), turns, api.stripControlSequences) ?? launchDifference(entries, error);
  const messages = {
    in: entries.filter(({ dir }) => dir === 'in').length,
    out: entries.filter(({ dir }) => dir === 'out').length,
  };
  const { agent, version } = header;
  return { ok: first === undefined, agent, version, messages, turns, diagnostics, unexpected, divergence: first, error };
}

/** @param {Turn[]} recorded @param {Turn[]} live @param {(text: string) => string} clean */
function firstTurnDifference(recorded, live, clean) {
  for (const [index, turn] of recorded.entries()) {
    const problem = live[index] === undefined ? 'the turn did not start' : turnDifference(turn, live[index], clean);
    if (problem !== undefined) return { line: turn.line, problem };
  }
  return undefined;
}

/** @param {Entry[]} entries @param {any} error */
function launchDifference(entries, error) {
  if (error === undefined) return undefined;
  const ask = entries.find(({ dir, frame }) => dir === 'out' && frame?.method === 'initialize');
  const answer = entries.find(({ dir, frame }) => dir === 'in' && frame?.method === undefined && frame?.id === ask?.frame.id);
  // The recorded agent refused, or was refused for its version: so it is now.
  const failed = answer === undefined || answer.frame.error !== undefined || error.code === 'incompatible_protocol';
  return failed ? undefined : { line: answer.line, problem: `the handshake failed: ${error.message}` };
}

module.exports = { agentFile, parseTranscript, replay, TranscriptError, transcriptWriter };
