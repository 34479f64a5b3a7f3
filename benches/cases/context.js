'use strict';

const { interleave, sample, sampleFloor } = require('../lib/sample');
const { floodAgent, updatesOf } = require('../lib/agent');

/**
 * @typedef {import('../lib/stats').Summary} Summary
 * @typedef {Summary | string} Cell A figure, or why there is none.
 * @typedef {object} Row
 * @property {string} id
 * @property {string} measure
 * @property {string} unit
 * @property {Record<string, Cell>} cells By client.
 * @property {{ text: string, met?: boolean }} [target] What the package's figure is held against.
 *
 * @typedef {object} Case
 * @property {string[]} ids
 * @property {(context: Context) => Promise<Row[]>} run
 *
 * @typedef {{ quick: boolean, rounds: number, log: (text: string) => void }} Options
 * @typedef {import('../lib/prepare').Prepared & Options} Setting
 */

/** What a case needs to measure: the clients that can be measured here, and ways to run them. */
class Context {
  /** @param {Setting} setting */
  constructor(setting) {
    this.setting = setting;
    this.quick = setting.quick;
  }

  /**
   * @param {import('../lib/agent').Flood} flood
   * @returns {import('../clients').AgentCommand}
   */
  agent(flood) {
    return floodAgent(this.setting.flood, flood);
  }

  /**
   * Measures the variants in turn, once per round. Variants of a client that is missing here are not run.
   *
   * @template S
   * @param {Record<string, { client: string, take: () => Promise<S> }>} variants
   * @param {number} [rounds]
   * @returns {Promise<Measured<S>>}
   */
  async measure(variants, rounds = this.setting.rounds) {
    /** @type {Record<string, () => Promise<S>>} */
    const runnable = {};
    /** @type {Record<string, string>} */
    const absent = {};
    for (const [name, { client, take }] of Object.entries(variants)) {
      if (this.setting.missing[client]) absent[name] = 'not measured';
      else runnable[name] = take;
    }
    const { samples, failures } = await interleave(rounds, runnable);
    for (const [name, why] of Object.entries(failures)) {
      this.setting.log(`${name}: ${why}`);
      absent[name] = 'failed';
    }
    return new Measured(samples, absent);
  }

  /**
   * One client's prompt turns.
   *
   * @param {string} client
   * @param {import('../lib/agent').Flood} flood
   * @param {Partial<import('../measures/turn').TurnOptions>} [options]
   * @returns {{ client: string, take: () => Promise<import('../measures/turn').Turn> }}
   */
  turn(client, flood, options = {}) {
    const agent = this.agent(flood);
    const { agents = 1, turns = 1 } = options;
    const all = { agents, turns, updates: updatesOf(flood) * agents * turns, ...options, agent };
    const take = () =>
      client === 'floor'
        ? sampleFloor(this.setting.floor, turns, agent)
        : sample('turn', client, all, { env: this.setting.env });
    return { client, take };
  }

  /**
   * Another measure than a turn.
   *
   * @param {string} measure
   * @param {string} client
   * @param {object} options
   * @param {string[]} [nodeArgs]
   */
  other(measure, client, options, nodeArgs) {
    return { client, take: () => sample(measure, client, options, { nodeArgs, env: this.setting.env }) };
  }
}

/**
 * The samples of one case.
 *
 * @template S
 */
class Measured {
  /**
   * @param {Record<string, S[]>} samples
   * @param {Record<string, string>} absent Why a variant has no samples.
   */
  constructor(samples, absent) {
    this.samples = samples;
    this.absent = absent;
  }

  /**
   * One figure of every run of a variant; nothing when the variant was not measured.
   *
   * @param {string} name
   * @param {(sample: S) => number} figure
   * @returns {number[] | undefined}
   */
  runs(name, figure) {
    return this.samples[name]?.map(figure);
  }

  /**
   * Why one of these variants was not measured.
   *
   * @param {string[]} names
   */
  why(...names) {
    return names.map((name) => this.absent[name]).find(Boolean) ?? 'not measured';
  }
}

module.exports = { Context, Measured };
