'use strict';

/**
 * @typedef {{ median: number, min: number, max: number, runs: number[] }} Summary
 */

/**
 * @param {number[]} runs At least one figure.
 * @returns {Summary}
 */
function summary(runs) {
  if (runs.length === 0) throw new Error('nothing was measured');
  const sorted = [...runs].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: sorted[sorted.length - 1], runs };
}

/** @param {number[]} runs */
const median = (runs) => summary(runs).median;

/**
 * Ratios of figures measured next to each other, run by run, so that what slows the whole machine for a while cancels.
 *
 * @param {number[]} above
 * @param {number[]} below
 */
function ratios(above, below) {
  const pairs = Math.min(above.length, below.length);
  return Array.from({ length: pairs }, (_, i) => above[i] / below[i]);
}

module.exports = { summary, median, ratios };
