'use strict';

// What a person is shown of a command before it runs: all of it, whatever a terminal would make of it.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AcpClient } = require('../..');
const { visible } = require('../../lib/clean.js');
const { script } = require('../support/fake-agent.js');

const HIDING = ['\u001b]', '\u001b[8m', '\r', '\u0007', '\u0000', '\u007f', '\u009b', '\u202e', '\u2066', '\u200f', '\u2028'];

test('what would hide a part of a value is shown as its code, and nothing is left out', () => {
  for (const hiding of HIDING) {
    const [shown] = visible([`ls ${hiding}; rm -rf x`]);
    assert.match(shown, /^ls \\u[0-9a-f]{4}[^]*; rm -rf x$/);
    assert.ok(![...hiding].some((character) => /[^ -~]/.test(character) && shown.includes(character)));
  }
  const plain = { command: 'printf "é\\n"\n\techo 1', args: ['a b', 'ü'], env: [{ name: 'A', value: 'b' }], cwd: '/x' };
  assert.deepEqual(visible(structuredClone(plain)), plain);
});

test('the question about a command shows it whole, and what runs is what the agent asked for', { skip: process.platform === 'win32' }, async () => {
  const command = 'printf %s "a\u001b]; rm -rf x\u0007"';
  /** @type {any[]} */
  const asked = [];
  const launch = script([
    { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
    { do: 'request', method: 'terminal/create', params: { sessionId: 's1', command, env: [{ name: 'A', value: '\u001b[2J' }] }, as: 'create' },
    { do: 'expect_response', to: 'create', into: 'made' },
    { do: 'request', method: 'terminal/wait_for_exit', params: { sessionId: 's1', terminalId: '{{made.result.terminalId}}' }, as: 'wait' },
    { do: 'expect_response', to: 'wait', result: { exitCode: 0 } },
    { do: 'request', method: 'terminal/output', params: { sessionId: 's1', terminalId: '{{made.result.terminalId}}' }, as: 'output' },
    { do: 'expect_response', to: 'output', result: { output: 'a\u001b]; rm -rf x\u0007' } },
    { do: 'prompt_end' },
  ]);
  const approve = (/** @type {any} */ request) => {
    asked.push(request);
    return true;
  };
  const client = await AcpClient.launch({ ...launch, cwd: process.cwd(), env: {}, terminal: { approve } });
  try {
    const session = await client.newSession();
    assert.equal((await session.prompt('x')).stopReason, 'end_turn');
  } finally {
    await client.close();
  }
  assert.equal(asked[0].command, 'printf %s "a\\u001b]; rm -rf x\\u0007"');
  assert.equal(asked[0].env[0].value, '\\u001b[2J');
});
