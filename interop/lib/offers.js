'use strict';

/** What an agent advertises, and how a check tells that it does not. */

const { describe, fail } = require('./verdict.js');

/** @typedef {import('./verdict.js').Verdict} Verdict */

/** @param {string} [note] @returns {Verdict} */
const notOffered = (note = '') => ({ status: 'not offered', note });

/**
 * An agent does not advertise something: then the call must be refused here, and nothing of it may reach the wire.
 *
 * @param {import('./case.js').Case} test
 * @param {() => Promise<unknown>} call
 * @param {string} [note]
 * @returns {Promise<Verdict>}
 */
async function refused(test, call, note) {
  const before = test.sent.length;
  try {
    await test.within(call(), 'a call that is not offered');
  } catch (error) {
    const { code } = /** @type {any} */ (error);
    if (code !== 'unsupported_capability') return fail(`not advertised, yet the call ended with ${describe(error)}`);
    const sent = test.sent.slice(before);
    return sent.length === 0 ? notOffered(note) : fail(`not advertised, yet ${sent.join(', ')} was sent`);
  }
  return fail('not advertised, yet the call succeeded');
}

/**
 * Runs the parts of a check in their order, each on what the ones before it left.
 *
 * @param {Record<string, () => Promise<Verdict>>} parts
 * @returns {Promise<Record<string, Verdict>>}
 */
async function inOrder(parts) {
  /** @type {Record<string, Verdict>} */
  const verdicts = {};
  for (const [id, run] of Object.entries(parts)) {
    try {
      verdicts[id] = await run();
    } catch (error) {
      verdicts[id] = fail(describe(error));
    }
  }
  return verdicts;
}

/**
 * The values of an option that is chosen from, whether they are grouped or not.
 *
 * @param {any} option
 * @returns {(string | boolean)[]}
 */
function valuesOf(option) {
  if (option.type === 'boolean') return [true, false];
  return (option.options ?? []).flatMap((/** @type {any} */ each) =>
    each.options ? each.options.map((/** @type {any} */ one) => one.value) : [each.value],
  );
}

module.exports = { inOrder, notOffered, refused, valuesOf };
