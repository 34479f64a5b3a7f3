'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const api = require('../..');
const { replay, transcriptWriter } = require('../../lib/replay');
const { main } = require('../../lib/cli');
const { sink } = require('../cli/world');

/** A folder of its own for a test. @param {import('node:test').TestContext} t */
function folder(t) {
  const made = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-replay-test-')));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/**
 * Records what a host does with an agent.
 *
 * @param {Partial<import('../..').LaunchOptions> & { command: string }} launch
 * @param {(client: import('../..').AcpClient) => Promise<void>} host
 * @returns {Promise<string>} The transcript.
 */
async function record(launch, host) {
  const lines = /** @type {string[]} */ ([]);
  const writer = transcriptWriter((line) => lines.push(line));
  const client = await api.AcpClient.launch({ cwd: process.cwd(), env: {}, onWire: (frame) => writer.frame(frame), ...launch });
  try {
    await host(client);
  } finally {
    await client.close();
    writer.end();
  }
  return lines.join('');
}

/**
 * Plays a transcript.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} text
 * @param {{ patienceMs?: number }} [options]
 */
function played(t, text, options) {
  const cwd = folder(t);
  const file = path.join(cwd, 'transcript.jsonl');
  fs.writeFileSync(file, text);
  return replay(api, { file, text, cwd, env: {}, ...options });
}

/**
 * A transcript of these messages: `['out', frame]`, `['in', frame]`, or `['in', text]`.
 *
 * @param {Array<['in' | 'out', any]>} messages
 */
function transcript(messages) {
  const entries = messages.map(([dir, frame], t) => (typeof frame === 'string' ? { t, dir, text: frame } : { t, dir, frame }));
  return [{ transcript: 1, agent: 'made up', version: '1' }, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The messages that open session `s1` and prompt it; the prompt's id is 3. @param {any} [capabilities] */
function prompted(capabilities = {}) {
  const jsonrpc = '2.0';
  return /** @type {Array<['in' | 'out', any]>} */ ([
    ['out', { jsonrpc, id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: capabilities } }],
    ['in', { jsonrpc, id: 1, result: { protocolVersion: 1, agentCapabilities: {} } }],
    ['out', { jsonrpc, id: 2, method: 'session/new', params: { cwd: '/recorded', mcpServers: [] } }],
    ['in', { jsonrpc, id: 2, result: { sessionId: 's1' } }],
    ['out', { jsonrpc, id: 3, method: 'session/prompt', params: { sessionId: 's1', prompt: [{ type: 'text', text: 'hi' }] } }],
  ]);
}

/** An update of `s1`. @param {any} update @returns {['in', any]} */
function update(update) {
  return ['in', { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update } }];
}

/** @param {string} text */
const says = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

/** The end of the prompt with the id 3. @param {string} [stopReason] @returns {['in', any]} */
const ends = (stopReason = 'end_turn') => ['in', { jsonrpc: '2.0', id: 3, result: { stopReason } }];

/** Runs the command line with the real package. @param {string[]} argv @param {string} [input] */
async function acp(argv, input = '') {
  const { EventEmitter } = require('node:events');
  const { Readable } = require('node:stream');
  const [stdout, stderr] = [sink(false), sink(false)];
  const code = await main({ argv, api: () => api, stdin: Readable.from([input]), stdout, stderr, signals: new EventEmitter() });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

module.exports = { acp, ends, folder, played, prompted, record, says, transcript, update };
