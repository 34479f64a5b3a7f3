'use strict';

// The work of a replay grows with its transcript, not faster.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Driver } = require('../../lib/replay/driver.js');

/** @typedef {{ dir: 'in' | 'out', t: number, line: number, frame: any }} Entry */

/** A driver that counts what it waits for. */
class Counting extends Driver {
  waits = 0;
  most = 0;
  checks = 0;

  /** @param {() => boolean} condition */
  until(condition) {
    this.waits += 1;
    const waiting = super.until(() => {
      this.checks += 1;
      return condition();
    });
    this.most = Math.max(this.most, this.waiting.size);
    return waiting;
  }
}

/**
 * Plays messages against an agent that answers at once.
 *
 * @param {Array<['in' | 'out', any]>} messages
 */
async function play(messages) {
  const entries = messages.map(([dir, frame], i) => ({ dir, t: 0, line: i + 2, frame: { jsonrpc: '2.0', ...frame } }));
  /** @type {any} */
  let options;
  const hear = () => options.onWire({ direction: 'from_agent', frame: '{}' });
  const client = {
    closed: new Promise(() => {}),
    close: async () => {},
    diagnostics: () => ({}),
    request: async () => {
      hear();
      if (driver.heard === driver.total) setImmediate(() => options.onExtNotification('_acp_replay/end', {}));
    },
  };
  const api = {
    AcpClient: {
      launch: async (/** @type {any} */ given) => {
        options = given;
        hear();
        return client;
      },
    },
  };
  const driver = Object.assign(new Counting(/** @type {any} */ (api), /** @type {any} */ (entries), '/', 1000), {
    total: messages.filter(([dir]) => dir === 'in').length,
  });
  const { divergence, error } = await driver.run({});
  assert.deepEqual([divergence, error], [undefined, undefined]);
  assert.equal(driver.waiting.size, 0);
  return driver;
}

/** @param {number} count @returns {Array<['in' | 'out', any]>} */
function calls(count) {
  /** @type {Array<['in' | 'out', any]>} */
  const messages = [['out', { id: 0, method: 'initialize', params: {} }], ['in', { id: 0, result: {} }]];
  for (let id = 1; id <= count; id++) messages.push(['out', { id, method: '_x/y', params: {} }], ['in', { id, result: {} }]);
  return messages;
}

test('requests that follow each other are waited for once', async () => {
  const [small, large] = [await play(calls(100)), await play(calls(400))];
  assert.equal(large.steps.length, 401);
  assert.ok(large.waits <= 4.5 * small.waits, `${small.waits} waits, then ${large.waits}`);
  assert.ok(large.checks <= 4.5 * small.checks, `${small.checks} checks, then ${large.checks}`);
  // However long the transcript, only what happens at once waits at once.
  assert.ok(large.most <= 4, `${large.most} waited at once`);
  assert.equal(large.awaited, 401);
});

test('questions that were never answered cost no message anything', async () => {
  for (const count of [10, 100]) {
    const messages = calls(1);
    for (let id = 0; id < count; id++) messages.splice(2, 0, ['in', { id, method: '_x/ask' }]);
    const driver = new Counting(/** @type {any} */ ({}), /** @type {any} */ (messages.map(([dir, frame]) => ({ dir, frame }))), '/', 1000);
    const asked = Array.from({ length: count }, () => driver.answerTo('_x/ask'));
    driver.wake();
    assert.equal(driver.waiting.size, 0);
    driver.stop();
    assert.deepEqual(await Promise.all(asked), new Array(count).fill(undefined));
  }
});
