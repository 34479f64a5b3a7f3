'use strict';

/** The merged state of one session: a frozen snapshot, made again only when something changed. */
class StateReader {
  /** @param {{ read: (known: number) => string | null }} native */
  constructor(native) {
    this.native = native;
    /** @type {import('../../types/state').SessionState | undefined} */
    this.snapshot = undefined;
  }

  /** @returns {import('../../types/state').SessionState} */
  read() {
    const json = this.native.read(this.snapshot?.version ?? -1);
    if (json !== null) this.snapshot = freeze(JSON.parse(json));
    return /** @type {import('../../types/state').SessionState} */ (this.snapshot);
  }
}

/**
 * Freezes a JSON value and everything in it. Without recursion: the agent decides how deep it is.
 *
 * @param {any} value
 * @returns {any}
 */
function freeze(value) {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === null || typeof next !== 'object') continue;
    Object.freeze(next);
    for (const item of Array.isArray(next) ? next : Object.values(next)) open.push(item);
  }
  return value;
}

module.exports = { StateReader };
