'use strict';

const { execFile } = require('node:child_process');
const path = require('node:path');
const { promisify } = require('node:util');

const run = promisify(execFile);
const worker = path.join(__dirname, '..', 'worker.js');

/** A sample that takes longer hangs. */
const TIMEOUT_MS = 180_000;

/**
 * Runs one measure of one client in a fresh Node process.
 *
 * @param {string} measure
 * @param {string} client
 * @param {object} options
 * @param {{ nodeArgs?: string[], env?: Record<string, string> }} [process_]
 */
async function sample(measure, client, options, { nodeArgs = [], env = {} } = {}) {
  const args = [...nodeArgs, worker, measure, client, JSON.stringify(options)];
  return parse(process.execPath, args, env);
}

/**
 * Runs the floor.
 *
 * @param {string} program
 * @param {number} turns
 * @param {import('../clients').AgentCommand} agent
 */
async function sampleFloor(program, turns, agent) {
  return parse(program, [String(turns), agent.command, ...agent.args], {});
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
async function parse(command, args, env) {
  const options = { env: { ...process.env, ...env }, timeout: TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await run(command, args, { ...options, killSignal: 'SIGKILL' });
  return JSON.parse(stdout);
}

/**
 * Runs every variant once, then every variant again, and so on: what drifts during the measurement hits all alike.
 * A variant that fails is left out from then on, and its failure is kept for the report.
 *
 * @template S
 * @param {number} rounds
 * @param {Record<string, () => Promise<S>>} variants
 * @returns {Promise<{ samples: Record<string, S[]>, failures: Record<string, string> }>}
 */
async function interleave(rounds, variants) {
  /** @type {Record<string, S[]>} */
  const samples = {};
  /** @type {Record<string, string>} */
  const failures = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, take] of Object.entries(variants)) {
      if (failures[name]) continue;
      try {
        (samples[name] ??= []).push(await take());
      } catch (error) {
        failures[name] = reason(error);
        delete samples[name];
      }
    }
  }
  return { samples, failures };
}

/** @param {any} error */
function reason(error) {
  if (error.killed) return `no result within ${TIMEOUT_MS / 1000} s`;
  const line = String(error.stderr || error.message)
    .split('\n')
    .find((text) => /\S/.test(text) && !/^(Command failed|\s+at )/.test(text));
  return (line ?? 'failed').trim();
}

module.exports = { sample, sampleFloor, interleave };
