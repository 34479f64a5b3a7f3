'use strict';

// Whole hosts that end in one way or another while they have agents, and what they leave behind.

const { spawn } = require('node:child_process');
const path = require('node:path');
const { survivors, waitUntil } = require('../support/process.js');
const { Random } = require('./random.js');

/** Milliseconds after which a host hangs: more than an episode may take. */
const CEILING = 60_000;

/**
 * @param {number} seed
 * @returns {Promise<import('./episodes').Failure | undefined>}
 */
async function hostEpisode(seed) {
  const random = new Random(seed ^ 0x5bd1e995);
  const end = random.pick(['alone', 'exit', 'throw', 'killed', 'killed', 'workers']);
  const mark = `ACP_CHAOS=host-${process.pid}-${seed}`;
  const how = { seed, end, mark, ms: random.int(0, 300), workers: 3 };
  const host = spawn(process.execPath, [path.join(__dirname, 'program.js'), JSON.stringify(how)], {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ACP_CHAOS: mark.split('=')[1] },
  });
  let said = '';
  host.stderr.on('data', (data) => (said += data));
  const signal = random.pick(/** @type {const} */ (['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']));
  host.stdout.on('data', () => void (end === 'killed' && host.kill(signal)));
  let hung = false;
  const clock = setTimeout(() => void (hung = true, host.kill('SIGKILL')), CEILING);
  const [code, by] = await new Promise((resolve) => host.on('exit', (...exit) => resolve(exit)));
  clearTimeout(clock);
  const violations = [];
  if (hung) violations.push('the host does not end');
  /** @type {Record<string, unknown[]>} */
  const expected = { alone: [0], workers: [0], exit: [7, 0], throw: [1, 0], killed: [null, 0] };
  if (!expected[end].includes(code)) violations.push(`the host ended with ${code ?? by}`);
  const loud = said.split('\n').filter((line) => line !== '' && !/AcpListenerWarning|^\(Use `node --trace|^ +at /.test(line));
  if (loud.length > 0 && end !== 'throw') violations.push(`the host says ${loud.join(' | ').slice(0, 2000)}`);
  await waitUntil(() => survivors(mark).length === 0, '').catch(() => {
    violations.push(`processes live: ${survivors(mark)}`);
  });
  return violations.length === 0 ? undefined : { seed, violations, log: [JSON.stringify(how)] };
}

module.exports = { hostEpisode };
