'use strict';

// The version is a number: 1 in any spelling that JSON has for it, and no other number, text or absence.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { end, scripted } = require('../support/scripted.js');

/** @param {string} version As it stands in the answer. */
function saying(version) {
  return scripted([
    { do: 'expect', method: 'initialize', as: 'call' },
    { do: 'raw', text: `{"jsonrpc":"2.0","id":{{call.id}},"result":{"protocolVersion":${version}}}\n` },
  ]);
}

for (const [version, quirks] of /** @type {const} */ ([['1', 0], ['1.0', 1], ['1e0', 1], ['10.0E-1', 1]])) {
  test(`${version} is version 1`, async () => {
    const client = await saying(version);
    assert.deepEqual([client.protocolVersion, client.diagnostics().quirks], [1, quirks]);
    await end(client);
  });
}

for (const version of ['0', '1.5', '2.0', '-1.0', '1.0000001', '"1"', '"1.0"', 'true', 'null', '[1]', '1e400']) {
  test(`${version} is not`, async () => {
    await assert.rejects(saying(version), (/** @type {any} */ error) => {
      assert.ok(['incompatible_protocol', 'malformed_response'].includes(error.code), error.code);
      return true;
    });
  });
}
