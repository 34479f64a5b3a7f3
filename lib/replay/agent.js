'use strict';

// The agent's side of a transcript, as an agent: `node agent.js <transcript>`. It says what the recorded agent said, each
// message once the client has sent what it had sent before. The first difference is told with the notification
// `_acp_replay/divergence`, the end with `_acp_replay/end`; no real agent has such methods.

const fs = require('node:fs');
const { createInterface } = require('node:readline');

const { describe, difference, matches } = require('./matching');
const { kindOf, parseTranscript } = require('./transcript');

/** How long the client has for the next message, in milliseconds; `ACP_REPLAY_PATIENCE_MS` says otherwise. */
const PATIENCE_MS = 10_000;

class ReplayAgent {
  /**
   * @param {import('./transcript').Entry[]} entries
   * @param {(line: string) => void} write
   * @param {number} patience
   */
  constructor(entries, write, patience) {
    this.entries = entries;
    this.write = write;
    this.patience = patience;
    this.at = 0;
    /** Messages of the client that no recorded one was matched with yet. @type {any[]} */
    this.pool = [];
    /** Recorded id of a client's request → the live one. @type {Map<unknown, unknown>} */
    this.ids = new Map();
    /** The agent's own requests, by their ids. @type {Map<unknown, any>} */
    this.asked = new Map();
    this.over = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** @param {any} frame */
  receive(frame) {
    this.pool.push(frame);
    this.go();
  }

  /** Says all that the client has earned. */
  go() {
    clearTimeout(this.timer);
    while (!this.over && this.at < this.entries.length) {
      const entry = this.entries[this.at];
      if (entry.dir === 'in') this.say(entry);
      else if (!this.take(entry)) return this.wait(entry);
      this.at += 1;
    }
    if (!this.over) this.finish();
  }

  /** @param {import('./transcript').Entry} entry */
  say(entry) {
    const { frame } = entry;
    if (frame === undefined) {
      this.write(entry.text ?? '');
      return;
    }
    if (kindOf(frame) === 'request') this.asked.set(frame.id, frame);
    const own = kindOf(frame) === 'response' && this.ids.has(frame.id);
    this.write(JSON.stringify(own ? { ...frame, id: this.ids.get(frame.id) } : frame));
  }

  /**
   * Takes the client's message that is the recorded one.
   *
   * @param {import('./transcript').Entry} entry
   */
  take({ frame, line }) {
    // What was no message of the recorded client cannot be waited for.
    if (frame === undefined) return true;
    const index = this.pool.findIndex((live) => matches(frame, live, (id) => id));
    if (index === -1) return false;
    const [live] = this.pool.splice(index, 1);
    if (kindOf(frame) === 'request') this.ids.set(frame.id, live.id);
    const problem = difference(frame, live, this.asked.get(frame.id));
    if (problem !== undefined) this.diverge(line, problem);
    return true;
  }

  /** @param {import('./transcript').Entry} entry */
  wait({ frame, line }) {
    this.timer = setTimeout(() => {
      const others = this.pool.map((live) => describe(live)).join(', ');
      this.diverge(line, `the client did not send ${describe(frame)}${others === '' ? '' : `, but ${others}`}`);
    }, this.patience);
  }

  /** @param {number} line @param {string} problem */
  diverge(line, problem) {
    if (this.over) return;
    this.over = true;
    this.notify('_acp_replay/divergence', { line, problem });
  }

  finish() {
    const [extra] = this.pool;
    if (extra !== undefined) {
      this.diverge(this.entries.at(-1)?.line ?? 0, `the client sent ${describe(extra)}, which is not in the transcript`);
      return;
    }
    this.over = true;
    this.notify('_acp_replay/end', {});
  }

  /** The client's last message came. */
  end() {
    clearTimeout(this.timer);
  }

  /** @param {string} method @param {object} params */
  notify(method, params) {
    this.write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }
}

/** @param {string} file */
function main(file) {
  const { entries } = parseTranscript(fs.readFileSync(file, 'utf8'));
  const patience = Number(process.env.ACP_REPLAY_PATIENCE_MS) || PATIENCE_MS;
  const agent = new ReplayAgent(entries, (line) => process.stdout.write(`${line}\n`), patience);
  // The client is gone: nobody is there to be told.
  process.stdout.on('error', () => process.exit(0));
  createInterface({ input: process.stdin, terminal: false })
    .on('line', (line) => {
      try {
        agent.receive(JSON.parse(line));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        agent.diverge(0, 'the client wrote a line that is not JSON');
      }
    })
    .on('close', () => agent.end());
}

if (require.main === module) main(process.argv[2]);

module.exports = { ReplayAgent };
