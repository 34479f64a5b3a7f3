'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const memory = require('../lib/memory');

/** Cycles between two looks at the process. */
const STEP = 100;

/**
 * Launch, ask, tear down, over and over in one host; looks at the process every hundred cycles.
 * Runs with `--expose-gc`: a collection before each look, so that garbage not yet collected does not read as growth.
 *
 * @param {() => Promise<import('../clients').Client>} load
 * @param {{ agent: import('../clients').AgentCommand, cycles: number }} options
 */
async function measure(load, { agent, cycles }) {
  const ask = (await load()).ask;
  if (!ask) throw new Error('this client has no one-shot ask');
  /** @type {{ cycle: number, residentBytes: number, descriptors: number, threads: number }[]} */
  const looks = [];
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await ask(agent);
    if (cycle % STEP === 0) looks.push({ cycle, ...(await look()) });
  }
  return { looks };
}

async function look() {
  await sleep(20);
  global.gc?.();
  await sleep(20);
  global.gc?.();
  return { residentBytes: memory.resident(), descriptors: memory.descriptors(), threads: memory.threads() };
}

module.exports = { measure };
