'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');

const { RawClient } = require('../default-agent/raw-client');

test('acp agent is the demo agent, and ends with its input', async () => {
  const client = new RawClient(['agent', '--require-auth'], path.join(__dirname, '..', '..', 'bin', 'acp.js'));
  const { agentInfo, authMethods } = await client.initialize();
  assert.equal(agentInfo.name, 'fusion-acp-default-agent');
  assert.equal(authMethods.length, 1);
  assert.deepEqual(await client.end(), { code: 0, signal: null });
  assert.equal(client.stderr, '');
});
