'use strict';

/** A source of choices: the same seed makes the same ones. */
class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` up to and with `high`. @param {number} low @param {number} high */
  int(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** @param {number} probability */
  chance(probability) {
    return this.next() < probability;
  }

  /** @template T @param {readonly T[]} items @returns {T} */
  pick(items) {
    return items[this.int(0, items.length - 1)];
  }

  /**
   * One of these, by weight.
   *
   * @template T
   * @param {ReadonlyArray<readonly [number, T]>} weighted
   * @returns {T}
   */
  weighted(weighted) {
    let at = this.next() * weighted.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of weighted) {
      at -= weight;
      if (at < 0) return item;
    }
    return weighted[weighted.length - 1][1];
  }

  /** A source of its own, so that what one part chooses does not move the others. */
  fork() {
    return new Random(this.int(0, 0xffffffff));
  }
}

module.exports = { Random };
