'use strict';

const { FusionHost } = require('./fusion.js');
const { Ledger } = require('./ledger.js');
const { Random } = require('./random.js');
const { TypedHost } = require('./typed.js');
const { held, leftovers } = require('./world.js');

/**
 * @typedef {object} Failure
 * @property {number} seed
 * @property {string[]} violations
 * @property {string[]} log
 */

/**
 * Runs one episode.
 *
 * @param {number} seed
 * @param {{ mark: string, killAll?: boolean }} world
 * @returns {Promise<Ledger>}
 */
async function episode(seed, world) {
  const random = new Random(seed);
  const ledger = new Ledger();
  const Host = random.chance(0.3) ? FusionHost : TypedHost;
  const host = new Host(random, ledger, world);
  void ledger.watch('episode', () => host.run());
  await ledger.settle();
  return ledger;
}

/**
 * Runs episodes, several at a time, and looks after each lot at what is left.
 *
 * @param {{ seed: number, episodes: number, together?: number, onFailure: (failure: Failure) => void }} options
 */
async function run({ seed, episodes, together = 1, onFailure }) {
  /** @type {Array<unknown>} */
  const loud = [];
  const hear = (/** @type {unknown} */ what) => void loud.push(what);
  const events = /** @type {const} */ (['unhandledRejection', 'uncaughtException', 'warning']);
  for (const event of events) process.on(/** @type {any} */ (event), hear);
  let failures = 0;
  let before;
  for (let done = 0; done < episodes; done += together) {
    const seeds = Array.from({ length: Math.min(together, episodes - done) }, (_, i) => seed + done + i);
    const mark = `ACP_CHAOS=${process.pid}-${seed + done}`;
    // The adapter's agents have it from here.
    process.env.ACP_CHAOS = mark.split('=')[1];
    const ledgers = await Promise.all(seeds.map((one) => episode(one, { mark, killAll: together === 1 })));
    // What is made once, such as threads, is there after the first.
    before ??= { ...held(), children: 0, agents: 0, promises: 0, channels: 1, clock: 0 };
    const left = await leftovers(before, mark);
    // What one lot leaves behind is not told of every later one.
    if (left.length > 0) before = held();
    const said = loud.splice(0).map((what) => `said aloud: ${what instanceof Error ? what.stack : what}`)
      .filter((what) => !what.includes('AcpListenerWarning'));
    for (const [i, ledger] of ledgers.entries()) {
      const violations = [...ledger.violations, ...left, ...said];
      if (violations.length === 0) continue;
      failures += 1;
      onFailure({ seed: seeds[i], violations, log: ledger.log });
    }
  }
  for (const event of events) process.off(event, hear);
  return failures;
}

module.exports = { run, episode };
