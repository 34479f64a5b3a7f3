'use strict';

// A host that ends while it has agents: `node program.js '<how>'`. `outside.js` starts it and looks at what is left.

const { isMainThread, Worker, workerData } = require('node:worker_threads');
const { setTimeout: sleep } = require('node:timers/promises');
const { episode } = require('./episodes.js');

/** @type {{ seed: number, end: string, ms: number, mark: string, workers?: number }} */
const how = isMainThread ? JSON.parse(process.argv[2]) : workerData;

/** Threads that end in the middle of what they do, one after the other. */
async function workers() {
  for (let i = 0; i < (how.workers ?? 1); i++) {
    const data = { ...how, seed: how.seed + i, end: 'alone' };
    const worker = new Worker(__filename, { workerData: data });
    const ended = new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
    await Promise.race([sleep(how.ms + 150), ended]);
    await worker.terminate();
  }
}

/** @type {Record<string, () => void>} */
const ends = {
  exit: () => process.exit(7),
  throw: () => {
    throw new Error('chaos');
  },
  // The parent kills it, or it ends by itself.
  killed: () => {},
  alone: () => {},
};

async function main() {
  if (how.end === 'workers') return workers();
  // In turn, so that there is something going on at any time.
  const ending = how.end === 'alone' ? undefined : setTimeout(ends[how.end], how.ms);
  if (how.end === 'killed') setTimeout(() => process.stdout.write('now\n'), how.ms);
  const ledger = await episode(how.seed, { mark: how.mark, killAll: isMainThread });
  clearTimeout(ending);
  for (const violation of ledger.violations) process.stderr.write(`violation: ${violation}\n`);
}

void main();
