'use strict';

/** One case: one check against one freshly started agent, and the proof that nothing of it is left. */

const fs = require('node:fs');
const path = require('node:path');
const driver = require('./driver.js');
const { FILES } = require('../model/steer.js');
const { Watcher } = require('./remarks.js');
const { makeScratch } = require('./scratch.js');
const { describe, fail, ok } = require('./verdict.js');
const { canScan, survivorsOf, sweep, waitUntilGone } = require('./processes.js');

/** Longest wait for anything an agent does, in milliseconds. */
const PATIENCE_MS = 90_000;
/** Survivors that leave within this time are told apart from those that stay. */
const STRAGGLER_MS = 3_000;

/**
 * How long agents have for what they do in their own time, in milliseconds.
 *
 * @typedef {object} Waits
 * @property {number} list to show a session in a list
 * @property {number} settle to write down a turn, before the process is closed
 * @property {number} connect to connect to an MCP server
 */
const WAITS = { list: 8_000, settle: 2_000, connect: 20_000 };

/**
 * @typedef {import('./table.js').Status} Status
 * @typedef {import('./verdict.js').Verdict} Verdict
 * @typedef {object} CaseResult
 * @property {Status} status
 * @property {string} note
 * @property {number} seconds
 * @property {{ atOnce: string[], staying: string[] } | undefined} survivors undefined where processes cannot be found
 * @property {Record<string, Verdict>} [parts] of a check that has some
 * @property {object} [facts]
 * @property {import('./remarks.js').Remark[]} [remarks] what the agent did on the wire
 */

class Case {
  /** @type {{ client: any, watcher: Watcher }[]} */
  #clients = [];
  /** Permission requests the agent made. @type {any[]} */
  permissions = [];
  /** The check ends the agent itself, so that how it ended says nothing about it. */
  endsAgent = false;
  /** Methods of the messages to agents, in order. @type {string[]} */
  sent = [];
  /** How many updates the agents sent, and how many of them were pieces of a message. */
  updates = 0;
  messages = 0;
  /** Sees every line of the wire besides. @type {((frame: any) => void) | undefined} */
  onFrame;
  /** What the agents did on the wire. @type {Set<import('./remarks.js').Remark>} */
  remarks = new Set();
  /** Whatever a check wants to keep for the report. @type {Record<string, unknown>} */
  facts = {};

  /**
   * @param {import('./table.js').AgentRow} row
   * @param {any} api the package under test
   * @param {import('../model/server.js').FakeModel} model
   * @param {string} clientPath where `api` was loaded from, for hosts of their own
   * @param {Waits} [waits]
   */
  constructor(row, api, model, clientPath, waits = WAITS) {
    this.waits = waits;
    this.row = row;
    this.api = api;
    this.model = model;
    this.clientPath = clientPath;
    this.scratch = makeScratch(row, model.port);
    model.workDir = this.scratch.cwd;
  }

  /** What starts the agent. */
  get launchOptions() {
    const { command, args, cwd, env } = this.scratch;
    return { command, args, cwd, env };
  }

  /**
   * Starts the agent.
   *
   * @param {object} [more] further launch options
   */
  async launch(more = {}) {
    const watcher = new Watcher();
    const onWire = (/** @type {any} */ frame) => {
      watcher.see(frame);
      this.#count(frame);
      this.onFrame?.(frame);
    };
    const options = { ...this.launchOptions, onWire, initializeTimeoutMs: PATIENCE_MS, ...more };
    const client = await this.within(this.api.AcpClient.launch(options), 'launch');
    this.#clients.push({ client, watcher });
    return client;
  }

  /**
   * Starts the agent with one answer to every permission request, opens a session and takes the row's steps.
   *
   * @param {'allow' | 'deny'} [decision]
   * @param {object} [more] further launch options
   * @param {object} [session] further options of the session
   */
  async open(decision = 'deny', more = {}, session = {}) {
    const onPermission = (/** @type {any} */ request) => {
      this.permissions.push(request);
      return decision;
    };
    const client = await this.launch({ onPermission, ...more });
    const opened = await this.within(client.newSession({ cwd: this.scratch.cwd, ...session }), 'session/new');
    await this.within(driver.takeSteps(opened, this.row.afterNew ?? []), 'the steps after session/new');
    return { client, session: opened };
  }

  /** @param {{ direction: string, frame: string }} frame */
  #count({ direction, frame }) {
    const method = frame.match(/"method":"([^"]+)"/)?.[1];
    if (direction === 'to_agent') {
      if (method) this.sent.push(method);
    } else if (method === 'session/update') {
      this.updates++;
      if (/"(user|agent)_message_chunk"/.test(frame)) this.messages++;
    }
  }

  /** Where an agent finds the model. */
  get modelUrl() {
    return `http://127.0.0.1:${this.model.port}/v1`;
  }

  /**
   * A short prompt: see `model/steer.js`.
   *
   * @param {string} word what steers the model
   */
  say(word) {
    return `Go on. STEER:${word}`;
  }

  /** @param {keyof typeof FILES} name @returns {string} */
  file(name) {
    return path.join(this.scratch.cwd, FILES[name]);
  }

  /** @param {keyof typeof FILES} name */
  exists(name) {
    return fs.existsSync(this.file(name));
  }

  /** @param {string} word the model requests that were steered by it */
  asked(word) {
    return this.model.requests.filter((request) => request.word === word);
  }

  /**
   * @template T
   * @param {PromiseLike<T>} promise
   * @param {string} what
   * @param {number} [ms]
   * @returns {Promise<T>}
   */
  async within(promise, what, ms = PATIENCE_MS) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const timeout = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} took more than ${ms / 1000} s`)), ms);
    });
    try {
      return await Promise.race([promise, /** @type {Promise<never>} */ (timeout)]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @param {() => unknown} condition
   * @param {string} what
   * @param {number} [ms]
   */
  async until(condition, what, ms = PATIENCE_MS) {
    const end = Date.now() + ms;
    while (!condition()) {
      if (Date.now() > end) throw new Error(`${what}: not within ${ms / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** @param {number} ms @returns {Promise<void>} */
  pause(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Closes what the check left open. */
  async close() {
    for (const { client, watcher } of this.#clients) {
      const exit = await this.within(client.close(), 'close', 30_000);
      if (!this.endsAgent) watcher.closed(exit ?? {});
      for (const remark of watcher.found) this.remarks.add(remark);
    }
  }

  /** @returns {Promise<CaseResult['survivors']>} */
  async survivors() {
    if (!canScan) return undefined;
    const atOnce = survivorsOf(this.scratch.mark);
    const staying = atOnce.length === 0 ? [] : await waitUntilGone(this.scratch.mark, STRAGGLER_MS);
    /** @param {import('./processes.js').Survivor[]} list */
    const told = (list) => list.map(({ command, by }) => `${this.plain(command)} (${by})`);
    return { atOnce: told(atOnce), staying: told(staying) };
  }

  /** Leaves the machine's paths out of what is kept. @param {string} text */
  plain(text) {
    return text.replaceAll(path.dirname(this.scratch.cwd), '{scratch}').replaceAll(/\/[^\s']*\/agents\//g, '{agents}/');
  }

  async dispose() {
    await sweep(this.scratch.mark);
    this.scratch.remove();
  }
}

/** The case that runs, for a run that is broken off. @type {Case | undefined} */
let current;

/** Ends and removes what the running case has started. */
const abandon = async () => current?.dispose();

/**
 * @param {import('../checks/index.js').Check} check
 * @param {import('./table.js').AgentRow} row
 * @param {{ api: any, path: string }} client
 * @param {import('../model/server.js').FakeModel} model
 * @param {Waits} [waits]
 * @returns {Promise<CaseResult>}
 */
async function runCase(check, row, client, model, waits) {
  model.reset();
  const test = new Case(row, client.api, model, client.path, waits);
  current = test;
  const started = performance.now();
  /** @type {Verdict} */
  let verdict;
  /** @type {Record<string, Verdict> | undefined} */
  let parts;
  try {
    if (check.parts) {
      parts = await check.run(test);
      verdict = worst(parts);
    } else verdict = await check.run(test);
  } catch (error) {
    verdict = fail(describe(error));
  }
  try {
    await test.close();
  } catch (error) {
    verdict = fail(`${verdict.note ? `${verdict.note}; then ` : ''}${describe(error)}`);
    parts = undefined;
  }
  const survivors = await test.survivors();
  await test.dispose();
  for (const each of [verdict, ...Object.values(parts ?? {})]) each.note = test.plain(each.note);
  return {
    ...verdict,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    survivors,
    ...(parts ? { parts } : {}),
    ...(Object.keys(test.facts).length > 0 ? { facts: test.facts } : {}),
    ...(test.remarks.size > 0 ? { remarks: [...test.remarks].sort() } : {}),
  };
}

/** @param {Record<string, Verdict>} parts @returns {Verdict} */
function worst(parts) {
  const failed = Object.entries(parts).filter(([, { status }]) => status === 'fail');
  if (failed.length === 0) return ok();
  return fail(failed.map(([id, { note }]) => `${id}: ${note}`).join('; '));
}

/**
 * The results of a case by the names of its columns: those of the check's parts where it has some, else its own. A
 * check that broke off before its end failed in all of its parts.
 *
 * @param {import('../checks/index.js').Check} check
 * @param {CaseResult} result
 * @returns {[string, CaseResult][]}
 */
function spread(check, { parts, ...whole }) {
  if (!check.parts) return [[check.id, whole]];
  return check.parts.map(({ id }) => [id, { ...whole, ...(parts?.[id] ?? fail(whole.note)) }]);
}

module.exports = { abandon, Case, runCase, spread };
