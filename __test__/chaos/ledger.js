'use strict';

const fs = require('node:fs');
const path = require('node:path');
const api = require('../..');

/** How long anything may take before it counts as hanging, in milliseconds. */
const CEILING = 20_000;
const PHASES = ['spawn', 'initialize', 'authenticate', 'session', 'prompt', 'teardown'];

/** What docs/errors.md promises: by code, the class and the phases. @returns {Map<string, { class: string, phases: string[] }>} */
function documented() {
  const page = fs.readFileSync(path.join(__dirname, '..', '..', 'docs', 'errors.md'), 'utf8');
  const rows = page.matchAll(/^\| `(\w+)` \| `(\w+)` \| ([^|]+) \|/gm);
  return new Map([...rows].map(([, code, name, phases]) => [code, { class: name, phases: phasesOf(phases.trim()) }]));
}

/** @param {string} words */
function phasesOf(words) {
  if (!words.startsWith('any')) return words.replace(/ only$/, '').split(', ');
  const [, but] = /^any but (\w+)$/.exec(words) ?? [];
  return PHASES.filter((phase) => phase !== but);
}

const CODES = documented();

/**
 * What is wrong with a failure.
 *
 * @param {any} error
 * @returns {string | undefined}
 */
function fault(error) {
  if (!(error instanceof api.AcpError)) return `it is no AcpError: ${error?.stack ?? error}`;
  const { code, phase, retryable, promptMayHaveBeenSent } = /** @type {any} */ (error);
  const known = CODES.get(code);
  if (known === undefined) return `its code ${code} is not documented`;
  if (code === 'internal_error') return `it is an internal error: ${error.stack}`;
  if (error.name !== known.class) return `${code} is a ${error.name}, not a ${known.class}`;
  if (phase !== undefined && !known.phases.includes(phase)) return `${code} in phase ${phase}`;
  if (typeof retryable !== 'boolean' || typeof promptMayHaveBeenSent !== 'boolean') return `${code} lacks a member`;
  if (error.message === '') return `${code} without a message`;
  return undefined;
}

/** The promises of an episode, and what was wrong in it. */
class Ledger {
  constructor() {
    /** @type {string[]} */
    this.violations = [];
    /** What happened, for the report. @type {string[]} */
    this.log = [];
    /** @type {Map<string, Promise<unknown>>} */
    this.open = new Map();
    this.count = 0;
    this.begun = performance.now();
  }

  /** @param {string} what */
  note(what) {
    this.log.push(`${(performance.now() - this.begun).toFixed(0)} ${what}`);
  }

  /** @param {string} what */
  violation(what) {
    this.violations.push(what);
    this.note(`VIOLATION ${what}`);
  }

  /**
   * Watches a promise until it settles. Resolves with its value, or `undefined`; never rejects.
   *
   * @template T
   * @param {string} label
   * @param {() => PromiseLike<T>} start
   * @param {object} [rules]
   * @param {AbortSignal} [rules.signal] Its reason is a fine way to fail.
   * @param {(error: any) => void} [rules.failed]
   * @returns {Promise<T | undefined>}
   */
  watch(label, start, { signal, failed } = {}) {
    const key = `${(this.count += 1)} ${label}`;
    this.note(`${key} …`);
    const watched = (async () => start())().then(
      (value) => {
        this.note(`${key} done`);
        return value;
      },
      (error) => {
        this.note(`${key} failed: ${error?.code} ${error?.message}`);
        const wrong = signal?.aborted && error === signal.reason ? undefined : fault(error);
        if (wrong !== undefined) this.violation(`${label}: ${wrong}`);
        else failed?.(error);
        return undefined;
      },
    );
    this.open.set(key, watched);
    return watched.finally(() => this.open.delete(key));
  }

  /** Waits until all that is watched has settled. What has not, hangs. */
  async settle() {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, CEILING, 'late');
    });
    while (this.open.size > 0) {
      if ((await Promise.race([Promise.all(this.open.values()), late])) === 'late') {
        for (const key of this.open.keys()) this.violation(`hangs: ${key}`);
        break;
      }
    }
    clearTimeout(timer);
  }
}

module.exports = { Ledger, fault };
