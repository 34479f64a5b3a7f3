'use strict';

/**
 * Transcripts: what both sides of a connection said, free of what tells of the machine or a person.
 *
 * A transcript is JSON lines. The first is the header `{"transcript": 1, "agent": …, "version": …}`; each other one is
 * `{"t": …, "dir": …, "frame": …}`: milliseconds since the first frame, `"in"` from the agent or `"out"` to it, and the
 * message itself. What is no whole JSON object has `text` instead, and `"truncated": true` where the wire tap cut it.
 * `acp trace` writes the same.
 */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { agentsDir } = require('./install.js');
const { RESULTS_DIR } = require('./report.js');

const VERSION = 1;
/** A transcript is reviewed and replayed whole. */
const MAX_BYTES = 200 * 1024;
const HOME = '/home/user';
const PROJECT = `${HOME}/project`;
const REPO_DIR = path.join(__dirname, '..', '..', 'crates', 'acp-testkit', 'transcripts', 'real');
const KEPT_DIR = () => path.join(RESULTS_DIR(), 'transcripts');

/** Folders that every system has, and the ones of the transcript itself. */
const KNOWN_PATHS = /^\/(home\/user|opt\/agent|tmp|usr|bin|dev|etc|proc)(\/|$)/;
const EMAIL = /[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}/gi;
const KEY = /\b(sk|pk|ghp|gho|github_pat|xox[abp]|AIza|AKIA)[-_]?[A-Za-z0-9_-]{16,}/g;

/** Collects the frames of one connection; give `see` to the case as its `onFrame`. */
class Recorder {
  #started = 0;
  /** @type {{ t: number, dir: 'in' | 'out', text: string, truncated: boolean }[]} */
  #frames = [];

  /** @param {{ time: number, direction: 'to_agent' | 'from_agent', frame: string, truncated: boolean }} frame */
  see({ time, direction, frame, truncated }) {
    this.#started ||= time;
    const t = Math.max(0, time - this.#started);
    this.#frames.push({ t, dir: direction === 'to_agent' ? 'out' : 'in', text: frame, truncated });
  }

  /** How many messages are not whole, and so keep the transcript from being played again. */
  get broken() {
    return this.#frames.filter(({ text, truncated }) => truncated || objectOf(text) === undefined).length;
  }

  /**
   * @param {{ agent: string, version: string }} about
   * @param {(text: string) => string} clean what {@link cleaner} made
   */
  write({ agent, version }, clean) {
    const lines = this.#frames.map(({ t, dir, text, truncated }) => {
      const frame = truncated ? undefined : objectOf(clean(text));
      if (frame) return JSON.stringify({ t, dir, frame });
      return JSON.stringify({ t, dir, text: clean(text), ...(truncated ? { truncated } : {}) });
    });
    return `${[JSON.stringify({ transcript: VERSION, agent, version }), ...lines].join('\n')}\n`;
  }
}

/** @param {string} text @returns {object | undefined} */
function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Replaces what a case's scratch folder, this machine and its user are called. It works on JSON text, where none of
 * the replacements needs an escape.
 *
 * @param {import('./scratch.js').Scratch} scratch
 * @param {{ dir: string, port: number }} places where the agent is installed, and the fake model's port
 * @returns {(text: string) => string}
 */
function cleaner(scratch, { dir, port }) {
  const root = path.dirname(scratch.cwd);
  /** @type {[string, string][]} */
  const texts = [
    [scratch.cwd, PROJECT],
    [path.join(root, 'home'), HOME],
    [path.join(root, 'tmp'), '/tmp'],
    [root, HOME],
    [dir, '/opt/agent'],
    [agentsDir(), '/opt'],
    [path.join(__dirname, '..', '..'), '/opt/runtime'],
    [path.dirname(process.execPath), '/usr/bin'],
    [os.homedir(), HOME],
    [`127.0.0.1:${port}`, '127.0.0.1:8080'],
    [`localhost:${port}`, 'localhost:8080'],
  ];
  // Some agents name a folder after a path, with its separators replaced.
  for (const [from, to] of texts.slice(0, 4)) texts.push([from.replaceAll('/', '-'), to.replaceAll('/', '-')]);
  texts.push([scratch.mark, 'project']);
  // `root` names nobody, and is a word of its own in many a description.
  const words = [os.hostname(), os.userInfo().username].filter((word) => word.length > 2 && word !== 'root');
  const names = words.map((word) => new RegExp(`\\b${word.replace(/\W/g, '\\$&')}\\b`, 'g'));
  return (text) => {
    let clean = text;
    for (const [from, to] of texts) if (from.length > 1) clean = clean.replaceAll(from, to);
    for (const name of names) clean = clean.replaceAll(name, 'user');
    return clean.replaceAll(EMAIL, 'user@example.com').replaceAll(KEY, '[masked]');
  };
}

/**
 * What in a transcript may tell of a machine or a person. The list is of kinds, not of this machine's names, so that it
 * holds wherever it is asked.
 *
 * @param {string} transcript
 * @returns {string[]}
 */
function personal(transcript) {
  const found = new Set();
  const see = (/** @type {unknown} */ value) => {
    if (typeof value === 'string') {
      for (const [, absolute] of value.matchAll(/(?:^|[\s"'`(=:[])(\/[\w.-]+(?:\/[\w.@+-]+)+)/g)) {
        if (!KNOWN_PATHS.test(absolute)) found.add(absolute);
      }
      for (const [email] of value.matchAll(EMAIL)) if (!email.endsWith('@example.com')) found.add(email);
      for (const [key] of value.matchAll(KEY)) found.add(key);
      if (/acp-interop-/.test(value)) found.add('a scratch folder');
    } else if (value && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) {
        see(key);
        see(item);
      }
    }
  };
  for (const line of transcript.split('\n').filter(Boolean)) see(JSON.parse(line));
  return [...found];
}

/** @param {string} id @param {string} transcript keeps it beside the results */
function keep(id, transcript) {
  fs.mkdirSync(KEPT_DIR(), { recursive: true });
  fs.writeFileSync(path.join(KEPT_DIR(), `${id}.jsonl`), transcript);
}

/**
 * Copies kept transcripts into the repository.
 *
 * @param {string[]} ids
 * @returns {string[]} what was copied
 */
function publish(ids) {
  fs.mkdirSync(REPO_DIR, { recursive: true });
  return ids.filter((id) => {
    const from = path.join(KEPT_DIR(), `${id}.jsonl`);
    if (!fs.existsSync(from)) return false;
    fs.copyFileSync(from, path.join(REPO_DIR, `${id}.jsonl`));
    return true;
  });
}

module.exports = { cleaner, keep, MAX_BYTES, personal, publish, Recorder, REPO_DIR };
