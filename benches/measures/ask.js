'use strict';

const { performance } = require('node:perf_hooks');

/**
 * One-shot asks against an agent that answers at once, in turn with the bare spawn and handshake of the same agent.
 *
 * @param {() => Promise<import('../clients').Client>} load
 * @param {{ agent: import('../clients').AgentCommand, pairs: number, warmUp: number }} options
 */
async function measure(load, { agent, pairs, warmUp }) {
  const ask = (await load()).ask;
  const bare = require('../clients/node').load().ask;
  if (!ask || !bare) throw new Error('this client has no one-shot ask');
  const firstMs = await time(() => ask(agent));
  for (let i = 0; i < warmUp; i++) {
    await bare(agent);
    await ask(agent);
  }
  const askMs = [];
  const bareMs = [];
  for (let i = 0; i < pairs; i++) {
    bareMs.push(await time(() => bare(agent)));
    askMs.push(await time(() => ask(agent)));
  }
  return { firstMs, askMs, bareMs };
}

/** @param {() => Promise<unknown>} action */
async function time(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

module.exports = { measure };
