'use strict';

const { execFileSync } = require('node:child_process');
const { copyFileSync, mkdtempSync, rmSync, statSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { hasAccounts } = require('../lib/memory');
const { median, summary } = require('../lib/stats');
const { root } = require('../lib/prepare');
const { notHere } = require('./limits');
const { held, ratioRow, row } = require('./rows');

const MIB = 2 ** 20;
const OURS = ['ours', 'ours, typed'];

/**
 * P8: a one-shot ask of an agent that answers at once, against the bare spawn and handshake of that agent.
 *
 * @type {import('./context').Case}
 */
const ask = {
  ids: ['P8'],
  async run(context) {
    const agent = context.agent({ count: 1 });
    const pairs = context.quick ? 10 : 40;
    const measured = await context.measure(
      Object.fromEntries(OURS.map((client) => [client, context.other('ask', client, { agent, pairs, warmUp: 3 })])),
    );
    const what = { id: 'P8', unit: 'ms', clients: OURS };
    return [
      row(measured, { ...what, measure: 'one-shot ask', figure: (run) => median(run.askMs) }),
      row(measured, { ...what, measure: 'bare spawn and handshake beside it', figure: (run) => median(run.bareMs) }),
      held(
        row(measured, {
          ...what,
          measure: 'time that the ask adds',
          figure: (run) =>
            median(run.askMs.map((/** @type {number} */ ms, /** @type {number} */ i) => ms - run.bareMs[i])),
        }),
        '<=',
        3,
        OURS,
      ),
      row(measured, { ...what, measure: 'first ask of a process', figure: (run) => run.firstMs }),
    ];
  },
};

/**
 * P9: loading the package in a fresh process.
 *
 * @type {import('./context').Case}
 */
const load = {
  ids: ['P9'],
  async run(context) {
    /** @type {Record<string, { specifier: string, how: string }>} */
    const packages = {
      ours: { specifier: root, how: 'require' },
      'sdk 0.24': { specifier: '@agentclientprotocol/sdk-0.24', how: 'import' },
      'sdk 2.4': { specifier: '@agentclientprotocol/sdk-2.4', how: 'import' },
      incumbent: { specifier: context.setting.env.BENCH_INCUMBENT_BUNDLE ?? '', how: 'import' },
    };
    const measured = await context.measure(
      Object.fromEntries(
        Object.entries(packages).map(([client, options]) => [client, context.other('import', client, options)]),
      ),
      context.quick ? 5 : 15, // short, and the spread of a start is wide
    );
    const figure = (/** @type {{ ms: number }} */ run) => run.ms;
    const clients = Object.keys(packages);
    return [
      held(row(measured, { id: 'P9', measure: 'loading the package', unit: 'ms', clients, figure }), '<=', 10),
      held(
        ratioRow(measured, {
          id: 'P9',
          measure: 'times faster than SDK 0.24',
          pairs: { ours: ['sdk 0.24', 'ours'] },
          figure,
        }),
        '>=',
        5,
      ),
    ];
  },
};

/**
 * P11: launch, ask, tear down, a thousand times in one host.
 *
 * @type {import('./context').Case}
 */
const cycles = {
  ids: ['P11'],
  async run(context) {
    if (!hasAccounts) return [notHere('P11', 'launch, ask, tear down')];
    const count = context.quick ? 200 : 1_000;
    const agent = context.agent({ count: 1 });
    const measured = await context.measure(
      Object.fromEntries(
        OURS.map((client) => [client, context.other('cycles', client, { agent, cycles: count }, ['--expose-gc'])]),
      ),
      context.quick ? 1 : undefined,
    );
    /** @param {string} key */
    const growth =
      (key) =>
      (/** @type {{ looks: Record<string, number>[] }} */ { looks }) =>
        looks[looks.length - 1][key] - looks[0][key];
    const what = { id: 'P11', clients: OURS };
    const measure = `${count.toLocaleString('en')} cycles: resident memory, end − after 100`;
    return [
      held(
        row(measured, { ...what, measure, unit: 'MiB', figure: (run) => growth('residentBytes')(run) / MIB }),
        '<=',
        5,
        OURS,
      ),
      held(
        row(measured, { ...what, measure: 'descriptors gained', unit: '', figure: growth('descriptors') }),
        '<=',
        0,
        OURS,
      ),
      held(row(measured, { ...what, measure: 'threads gained', unit: '', figure: growth('threads') }), '<=', 0, OURS),
    ];
  },
};

/**
 * P12: size of the addon without symbols.
 *
 * @type {import('./context').Case}
 */
const size = {
  ids: ['P12'],
  async run(context) {
    const { addon } = context.setting;
    /** @type {import('./context').Cell} */
    let cell = 'not measured';
    if (addon) {
      const directory = mkdtempSync(path.join(tmpdir(), 'acp-bench-'));
      try {
        const copy = path.join(directory, 'addon.node');
        copyFileSync(addon, copy);
        execFileSync('strip', [copy], { stdio: ['ignore', 'ignore', 'pipe'] });
        cell = summary([statSync(copy).size / MIB]);
      } catch {
        cell = 'no strip here';
      } finally {
        rmSync(directory, { recursive: true });
      }
    }
    return [held({ id: 'P12', measure: 'addon without symbols', unit: 'MiB', cells: { ours: cell } }, '<=', 5)];
  },
};

module.exports = { cases: [ask, load, cycles, size] };
