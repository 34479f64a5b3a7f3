'use strict';

const path = require('node:path');

/**
 * The row of an agent of these tests, as the kit's table has it.
 *
 * @param {string} id Its script beside this file, without the ending.
 * @param {string[]} faults What it does wrong.
 * @returns {import('../../interop/lib/table.js').AgentRow}
 */
const agentRow = (id, faults) => ({
  id,
  title: id,
  install: { npm: [] },
  command: ['{node}', path.join(__dirname, `${id}.js`), ...faults],
  env: { MODEL_URL: 'http://127.0.0.1:{port}' },
  home: {},
  expect: {},
  faults: [],
});

module.exports = { agentRow };
