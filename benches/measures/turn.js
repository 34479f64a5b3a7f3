'use strict';

const { monitorEventLoopDelay, performance } = require('node:perf_hooks');
const { setImmediate: immediate, setTimeout: sleep } = require('node:timers/promises');
const memory = require('../lib/memory');

/** How long a client may go on delivering updates after it reported the turn's end. */
const LATE_MS = 5_000;

/**
 * @typedef {object} TurnOptions
 * @property {import('../clients').AgentCommand} agent
 * @property {number} agents Agents that answer at once, each with a session of its own.
 * @property {number} updates Updates that all agents together send in all turns.
 * @property {number} [turns] Prompts sent one after the other; 1 unless said.
 * @property {boolean} [delay] Sample the event-loop delay. Its timer costs time, so no other figure is read.
 * @property {number} [blockMs] Block the consumer once for so long, at the first update.
 *
 * @typedef {object} Turn
 * @property {number} wallMs From the first prompt to the last response with every update delivered.
 * @property {number} cpuUs Processor time of this process, all threads.
 * @property {number} busyMs Time that the event loop was not idle.
 * @property {number} updates
 * @property {number} chars Characters of text delivered.
 * @property {number} disordered Texts whose number is not above the one before.
 * @property {number} late Updates delivered after the turn's end was reported.
 * @property {number} objects Tool arguments and results that arrived as objects.
 * @property {number} idleBytes Resident memory before the prompt.
 * @property {number} peakBytes The most resident memory during the turn.
 * @property {number[]} endsMs When each agent's turn ended.
 * @property {{ p50: number, p99: number, max: number }} [delayMs]
 * @property {number} [agentWroteBytes] What the agent had written when the blocked consumer went on.
 * @property {number} [agentTotalBytes] What the agent wrote in all.
 */

/**
 * Prompt turns of one or more agents.
 *
 * @param {() => Promise<import('../clients').Client>} load
 * @param {TurnOptions} options
 * @returns {Promise<Turn>}
 */
async function measure(load, options) {
  const client = await load();
  /** @type {Counter[]} */
  const counters = [];
  const sessions = [];
  for (let i = 0; i < options.agents; i++) {
    const counter = createCounter(i === 0 ? options.blockMs : undefined);
    counters.push(counter);
    sessions.push(await client.open(options.agent, counter.handlers));
  }
  await sleep(50); // what the start left to do is not the turn's
  const delay = options.delay ? monitorEventLoopDelay({ resolution: 1 }) : undefined;
  const idleBytes = memory.resident();
  memory.resetPeak();
  delay?.enable();

  const loop = performance.eventLoopUtilization();
  const cpu = process.cpuUsage();
  const start = performance.now();
  /** @type {number[]} */
  const endsMs = [];
  const turns = async (/** @type {import('../clients').OpenSession} */ session, /** @type {Counter} */ counter) => {
    for (let turn = 0; turn < (options.turns ?? 1); turn++) {
      counter.startTurn();
      await session.prompt();
    }
    endsMs.push(performance.now() - start);
  };
  await Promise.all(sessions.map((session, i) => turns(session, counters[i])));
  const onTime = sum(counters, 'updates');
  while (sum(counters, 'updates') < options.updates && performance.now() - start < (endsMs.at(-1) ?? 0) + LATE_MS) {
    await immediate();
  }
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const busyMs = performance.eventLoopUtilization(loop).active;

  if (delay) await sleep(3); // lets the timer report the block it sat in
  delay?.disable();
  const peakBytes = memory.peak();
  const agentTotalBytes = options.blockMs ? memory.writtenByChildren() : undefined;
  await Promise.all(sessions.map((session) => session.close()));
  const updates = sum(counters, 'updates');
  return {
    wallMs,
    cpuUs: user + system,
    busyMs,
    updates,
    chars: sum(counters, 'chars'),
    disordered: sum(counters, 'disordered'),
    late: updates - onTime,
    objects: sum(counters, 'objects'),
    idleBytes,
    peakBytes,
    endsMs,
    delayMs: delay && { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
    agentWroteBytes: counters[0].agentWroteBytes,
    agentTotalBytes,
  };
}

/** @typedef {ReturnType<typeof createCounter>} Counter */

/**
 * Handlers that count. They do as little as a test of count, length and order allows, the same for every client.
 *
 * @param {number | undefined} blockMs
 */
function createCounter(blockMs) {
  let last = -1;
  const counter = {
    updates: 0,
    chars: 0,
    disordered: 0,
    objects: 0,
    /** @type {number | undefined} */
    agentWroteBytes: undefined,
    /** The agent numbers the texts of each turn from the start. */
    startTurn() {
      last = -1;
    },
    handlers: {
      /** @param {string} text */
      onText(text) {
        counter.updates++;
        counter.chars += text.length;
        const number = sequence(text);
        if (number <= last) counter.disordered++;
        last = number;
        if (blockMs && counter.updates === 1) {
          block(blockMs);
          counter.agentWroteBytes = memory.writtenByChildren();
        }
      },
      onThinking() {},
      onOther() {
        counter.updates++;
      },
      /** @param {string} _name @param {unknown} [args] */
      onToolStart(_name, args) {
        counter.updates++;
        if (typeof args === 'object' && args !== null) counter.objects++;
      },
      /** @param {string} _name @param {boolean} _isError @param {unknown} [result] */
      onToolEnd(_name, _isError, result) {
        counter.updates++;
        if (typeof result === 'object' && result !== null) counter.objects++;
      },
    },
  };
  return counter;
}

/**
 * The number that the flood agent puts at the start of every text.
 *
 * @param {string} text
 */
function sequence(text) {
  let number = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) break;
    number = number * 10 + digit;
  }
  return number;
}

/** @param {number} ms */
function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/**
 * @template {string} K
 * @param {Record<K, number>[]} counters
 * @param {K} key
 */
function sum(counters, key) {
  return counters.reduce((total, counter) => total + counter[key], 0);
}

module.exports = { measure };
