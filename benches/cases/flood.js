'use strict';

const { held, ratioRow, row } = require('./rows');

const OURS = ['ours', 'ours, typed'];
const PEERS = ['node', 'sdk 0.24', 'sdk 2.4'];
const ALL = [...OURS, 'floor', ...PEERS];

/**
 * P1 and P2: text updates through one callback each. In two turns, because the package keeps the incumbent's limit of
 * 5,000,000 characters per turn.
 *
 * @type {import('./context').Case}
 */
const text = {
  ids: ['P1', 'P2'],
  async run(context) {
    const turns = 2;
    const updates = context.quick ? 10_000 : 100_000;
    const total = turns * updates;
    const delayed = ALL.filter((client) => client !== 'floor');
    const measured = await context.measure({
      ...Object.fromEntries(ALL.map((client) => [client, context.turn(client, { count: updates }, { turns })])),
      ...Object.fromEntries(
        delayed.map((client) => [`${client} delay`, context.turn(client, { count: updates }, { turns, delay: true })]),
      ),
    });
    const wall = (/** @type {Turn} */ turn) => turn.wallMs;
    const speed = { id: 'P1', figure: wall };
    const delay = { id: 'P2', unit: 'ms', clients: delayed, suffix: ' delay' };
    const what = `${total.toLocaleString('en')} text updates`;
    return [
      row(measured, { id: 'P1', measure: `${what}: wall`, unit: 'ms', clients: ALL, figure: wall }),
      row(measured, {
        id: 'P1',
        measure: 'updates per second',
        unit: 'k/s',
        clients: ALL,
        figure: (turn) => total / turn.wallMs,
      }),
      row(measured, {
        id: 'P1',
        measure: 'CPU of the host per update',
        unit: 'µs',
        clients: ALL,
        figure: (turn) => turn.cpuUs / total,
      }),
      row(measured, {
        id: 'P1',
        measure: 'resident memory, peak above idle',
        unit: 'MiB',
        clients: delayed,
        figure: (turn) => (turn.peakBytes - turn.idleBytes) / 2 ** 20,
      }),
      held(
        row(measured, {
          id: 'P1',
          measure: 'updates lost, late or out of order',
          unit: '',
          clients: delayed,
          figure: (turn) => total - turn.updates + turn.late + turn.disordered,
        }),
        '<=',
        0,
      ),
      held(ratioRow(measured, { ...speed, measure: 'wall, against the floor', pairs: over(ALL, 'floor') }), '<=', 1.25),
      held(ratioRow(measured, { ...speed, measure: 'times faster than SDK 0.24', pairs: under('sdk 0.24') }), '>=', 5),
      held(ratioRow(measured, { ...speed, measure: 'times faster than SDK 2.4', pairs: under('sdk 2.4') }), '>=', 8),
      held(
        row(measured, {
          id: 'P2',
          measure: 'event loop busy per update',
          unit: 'µs',
          clients: delayed,
          figure: (turn) => (turn.busyMs / total) * 1e3,
        }),
        '<=',
        0.25,
      ),
      row(measured, { ...delay, measure: 'event-loop delay p50', figure: (turn) => turn.delayMs?.p50 ?? NaN }),
      held(
        row(measured, { ...delay, measure: 'event-loop delay p99', figure: (turn) => turn.delayMs?.p99 ?? NaN }),
        '<=',
        10,
      ),
      row(measured, { ...delay, measure: 'event-loop delay max', figure: (turn) => turn.delayMs?.max ?? NaN }),
    ];
  },
};

/**
 * P3: the cost per update does not grow with the turn. Short texts keep the long turn below the limit per turn.
 *
 * @type {import('./context').Case}
 */
const growth = {
  ids: ['P3'],
  async run(context) {
    const long = context.quick ? 80_000 : 400_000;
    const clients = context.quick ? [...OURS, 'floor'] : [...OURS, 'floor', 'sdk 0.24'];
    const sizes = { long, short: long / 4 };
    const measured = await context.measure(
      Object.fromEntries(
        clients.flatMap((client) =>
          Object.entries(sizes).map(([size, count]) => [
            `${client} ${size}`,
            context.turn(client, { count, chars: 10 }),
          ]),
        ),
      ),
    );
    const pairs = Object.fromEntries(
      clients.map((client) => [client, /** @type {[string, string]} */ ([`${client} long`, `${client} short`])]),
    );
    const k = (/** @type {number} */ n) => `${n / 1000}k`;
    const measure = `time(${k(sizes.long)}) / time(${k(sizes.short)})`;
    return [held(ratioRow(measured, { id: 'P3', measure, pairs, figure: (turn) => turn.wallMs }), '<=', 4.3)];
  },
};

/**
 * P4: against the plugin that this package replaces, with the same callbacks and the same limits.
 *
 * @type {import('./context').Case}
 */
const incumbent = {
  ids: ['P4'],
  async run(context) {
    const updates = context.quick ? 3_000 : 20_000;
    const clients = ['ours', 'incumbent'];
    const measured = await context.measure(
      Object.fromEntries(clients.map((client) => [client, context.turn(client, { count: updates })])),
    );
    const figure = (/** @type {Turn} */ turn) => turn.wallMs;
    const measure = `${updates.toLocaleString('en')} text updates: wall`;
    const busy = 'event loop busy per update';
    return [
      row(measured, { id: 'P4', measure, unit: 'ms', clients, figure }),
      row(measured, { id: 'P4', measure: busy, unit: 'µs', clients, figure: (turn) => (turn.busyMs / updates) * 1e3 }),
      held(
        ratioRow(measured, { id: 'P4', measure: 'times faster than the incumbent', pairs: under('incumbent'), figure }),
        '>=',
        100,
      ),
    ];
  },
};

/**
 * P5: tool calls and their results, arguments and results delivered as objects.
 *
 * @type {import('./context').Case}
 */
const tools = {
  ids: ['P5'],
  async run(context) {
    const pairs = context.quick ? 2_000 : 20_000;
    const updates = 2 * pairs;
    const clients = [...OURS, ...PEERS];
    const measured = await context.measure(
      Object.fromEntries(clients.map((client) => [client, context.turn(client, { kind: 'tools', count: pairs })])),
    );
    const figure = (/** @type {Turn} */ turn) => turn.wallMs;
    const measure = `${pairs.toLocaleString('en')} tool calls with results: wall`;
    const lost = 'calls and results not delivered as objects';
    return [
      row(measured, { id: 'P5', measure, unit: 'ms', clients, figure }),
      row(measured, {
        id: 'P5',
        measure: 'event loop busy per update',
        unit: 'µs',
        clients,
        figure: (turn) => (turn.busyMs / updates) * 1e3,
      }),
      held(row(measured, { id: 'P5', measure: lost, unit: '', clients, figure: (t) => updates - t.objects }), '<=', 0),
      held(
        ratioRow(measured, { id: 'P5', measure: 'times faster than SDK 0.24', pairs: under('sdk 0.24'), figure }),
        '>=',
        4,
      ),
    ];
  },
};

/** @typedef {import('../measures/turn').Turn} Turn */

/**
 * Each client's time over that of one of them.
 *
 * @param {string[]} clients
 * @param {string} below
 * @returns {Record<string, [string, string]>}
 */
function over(clients, below) {
  return Object.fromEntries(clients.filter((client) => client !== below).map((client) => [client, [client, below]]));
}

/**
 * One client's time over that of each of the package's APIs.
 *
 * @param {string} above
 * @returns {Record<string, [string, string]>}
 */
function under(above) {
  return Object.fromEntries(OURS.map((client) => [client, [above, client]]));
}

module.exports = { cases: [text, growth, incumbent, tools] };
