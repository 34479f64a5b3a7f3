'use strict';

const { hasAccounts } = require('../lib/memory');
const { held, ratioRow, row } = require('./rows');

const MIB = 2 ** 20;
const CLIENTS = ['ours', 'ours, typed', 'node', 'sdk 0.24', 'sdk 2.4'];

/**
 * P6: one very long line, a tool call's output, in small writes.
 *
 * @type {import('./context').Case}
 */
const line = {
  ids: ['P6'],
  async run(context) {
    const long = context.quick ? 4 : 20;
    const flood = (/** @type {number} */ megabytes) => ({
      kind: /** @type {const} */ ('line'),
      count: megabytes,
      writeBytes: 4096,
    });
    const turn = (/** @type {string} */ client, /** @type {number} */ megabytes, delay = false) =>
      // The Fusion-shaped API has no callback for a tool call that is still running.
      context.turn(client, flood(megabytes), client === 'ours' ? { delay, updates: 0 } : { delay });
    const measured = await context.measure({
      ...Object.fromEntries(CLIENTS.map((client) => [client, turn(client, long)])),
      ...Object.fromEntries(CLIENTS.map((client) => [`${client} quarter`, turn(client, long / 4)])),
      ...Object.fromEntries(CLIENTS.map((client) => [`${client} delay`, turn(client, long, true)])),
    });
    const figure = (/** @type {import('../measures/turn').Turn} */ turn) => turn.wallMs;
    const pairs = Object.fromEntries(
      CLIENTS.map((client) => [client, /** @type {[string, string]} */ ([client, `${client} quarter`])]),
    );
    const what = `one line of ${long} MB in writes of 4 KiB`;
    return [
      row(measured, { id: 'P6', measure: `${what}: wall`, unit: 'ms', clients: CLIENTS, figure }),
      held(
        row(measured, {
          id: 'P6',
          measure: 'updates lost',
          unit: '',
          clients: CLIENTS.filter((client) => client !== 'ours'),
          figure: (turn) => 1 - turn.updates,
        }),
        '<=',
        0,
        ['ours, typed'],
      ),
      held(ratioRow(measured, { id: 'P6', measure: 'time / time for a quarter of it', pairs, figure }), '<=', 4.3, [
        'ours',
        'ours, typed',
      ]),
      held(
        row(measured, {
          id: 'P6',
          measure: 'event-loop delay p99',
          unit: 'ms',
          clients: CLIENTS,
          suffix: ' delay',
          figure: (turn) => turn.delayMs?.p99 ?? NaN,
        }),
        '<=',
        10,
      ),
      row(measured, {
        id: 'P6',
        measure: 'event-loop delay max',
        unit: 'ms',
        clients: CLIENTS,
        suffix: ' delay',
        figure: (turn) => turn.delayMs?.max ?? NaN,
      }),
    ];
  },
};

/**
 * P7: a consumer that stops for a while in the middle of a flood. Short texts keep the turn below the limit per turn.
 *
 * @type {import('./context').Case}
 */
const blocked = {
  ids: ['P7'],
  async run(context) {
    if (!hasAccounts) return [notHere('P7', 'a blocked consumer')];
    const updates = context.quick ? 100_000 : 500_000;
    const blockMs = context.quick ? 500 : 3_000;
    const clients = context.quick ? ['ours', 'ours, typed', 'node'] : CLIENTS;
    const measured = await context.measure(
      Object.fromEntries(
        clients.map((client) => [client, context.turn(client, { count: updates, chars: 9 }, { blockMs })]),
      ),
    );
    const what = `${updates.toLocaleString('en')} updates, consumer stops for ${blockMs / 1e3} s`;
    return [
      held(
        row(measured, {
          id: 'P7',
          measure: `${what}: resident memory, peak above idle`,
          unit: 'MiB',
          clients,
          figure: (turn) => (turn.peakBytes - turn.idleBytes) / MIB,
        }),
        '<=',
        64,
        ['ours', 'ours, typed'],
      ),
      held(
        row(measured, {
          id: 'P7',
          measure: 'updates lost or out of order',
          unit: '',
          clients,
          figure: (turn) => updates - turn.updates + turn.disordered,
        }),
        '<=',
        0,
        ['ours', 'ours, typed'],
      ),
      held(
        row(measured, {
          id: 'P7',
          measure: 'written by the agent when the consumer went on',
          unit: '%',
          clients,
          figure: (turn) => ((turn.agentWroteBytes ?? NaN) / (turn.agentTotalBytes ?? NaN)) * 100,
        }),
        '<',
        100,
        ['ours', 'ours, typed'],
      ),
    ];
  },
};

/**
 * P10: many agents at once against one agent that sends as much as all of them.
 *
 * @type {import('./context').Case}
 */
const many = {
  ids: ['P10'],
  async run(context) {
    const agents = context.quick ? 16 : 64;
    const updates = context.quick ? 2_500 : 5_000;
    const clients = context.quick ? ['ours'] : ['ours', 'ours, typed', 'node', 'sdk 0.24'];
    const total = agents * updates;
    const chars = 15; // keeps the one agent's turn below the limit per turn
    const measured = await context.measure(
      Object.fromEntries(
        clients.flatMap((client) => [
          [`${client} many`, context.turn(client, { count: updates, chars }, { agents })],
          [`${client} one`, context.turn(client, { count: total, chars })],
        ]),
      ),
    );
    const pairs = Object.fromEntries(
      clients.map((client) => [client, /** @type {[string, string]} */ ([`${client} one`, `${client} many`])]),
    );
    const what = `${agents} agents, ${updates.toLocaleString('en')} updates each`;
    const rate = {
      id: 'P10',
      unit: 'k/s',
      clients,
      figure: (/** @type {import('../measures/turn').Turn} */ turn) => total / turn.wallMs,
    };
    return [
      row(measured, { ...rate, measure: what, suffix: ' many' }),
      row(measured, { ...rate, measure: `one agent, ${total.toLocaleString('en')} updates`, suffix: ' one' }),
      held(
        ratioRow(measured, {
          id: 'P10',
          measure: 'throughput of many over that of one',
          pairs,
          figure: (turn) => turn.wallMs,
        }),
        '>=',
        0.8,
      ),
      held(
        row(measured, {
          id: 'P10',
          measure: 'slowest agent over the median agent',
          unit: '×',
          clients,
          suffix: ' many',
          figure: ({ endsMs }) => endsMs[endsMs.length - 1] / endsMs[endsMs.length >> 1],
        }),
        '<=',
        1.5,
      ),
    ];
  },
};

/**
 * @param {string} id
 * @param {string} measure
 * @returns {import('./context').Row}
 */
function notHere(id, measure) {
  return { id, measure, unit: '', cells: { ours: 'not on this system' } };
}

module.exports = { cases: [line, blocked, many], notHere };
