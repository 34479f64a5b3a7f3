'use strict';

// What the agent's environment holds in secret shows nowhere, whatever it looks like.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AcpClient, AcpRuntimeAdapter, askAcpOnce, probeAcpReadiness } = require('../..');
const { script } = require('../support/fake-agent.js');

// Words that no pattern takes for a secret.
const SECRET = 'correct horse';
const NAMED = 'battery';
const cwd = process.cwd();
const env = { API_TOKEN: SECRET, MODE_KEY: 'debug', LABEL: 'plain words' };

/** Says them in every place that is told of: noise, stderr, the message of an error and its data. */
const says = `${SECRET}, ${NAMED}, debug, plain words`;
const fails = (/** @type {string} */ method) => [
  { do: 'expect', method },
  { do: 'raw', text: `noise: ${says}\n`, literal: true },
  { do: 'stderr', text: `stderr: ${says}\n` },
  { do: 'respond', error: { code: -32603, message: `error: ${says}`, data: { details: `data: ${says}` } } },
];

/**
 * @param {unknown} shown
 * @param {boolean} [named] whether the second was named as one
 */
function masked(shown, named = false) {
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  assert.ok(text.includes('[REDACTED]'), text);
  assert.ok(!text.includes(SECRET), text);
  assert.equal(text.includes(NAMED), !named, text);
  assert.ok(text.includes('debug') && text.includes('plain words'), `a setting is no secret: ${text}`);
}

test('the typed client masks variables with the name of a secret, and what the host names', async () => {
  /** @type {string[]} */
  const frames = [];
  const steps = [{ do: 'initialize' }, ...fails('session/new')];
  const onWire = (/** @type {any} */ { direction, frame }) => direction === 'from_agent' && frames.push(frame);
  const client = await AcpClient.launch({ ...script(steps), cwd, env, secrets: [NAMED], onWire });
  const error = await client.newSession().then(() => assert.fail('opened'), (/** @type {any} */ e) => e);
  await client.close();
  masked(error.message, true);
  masked(error.rpc.data, true);
  masked(client.stderr(), true);
  masked(frames.join('\n'), true);
});

test('a launch that fails masks them', async () => {
  const launch = AcpClient.launch({ ...script(fails('initialize')), cwd, env });
  const error = await launch.then(() => assert.fail('launched'), (/** @type {any} */ e) => e);
  masked(error.message);
  masked(error.stderrTail);
});

test('the probe masks them', async () => {
  const { command, args } = script(fails('initialize'));
  const status = await probeAcpReadiness({ binaryPath: command, args, cwd, env });
  assert.equal(status.ok, false);
  masked(status.detail);
});

test('the adapter and the one-shot ask mask them', async () => {
  const { command, args } = script([{ do: 'initialize' }, { do: 'session_new' }, ...fails('session/prompt')]);
  const inherited = { ...process.env };
  Object.assign(process.env, env);
  try {
    const adapter = new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args, acpEnvAllowList: Object.keys(env) });
    const answer = await askAcpOnce(adapter, { prompt: 'question', cwd });
    assert.ok(!answer.ok);
    masked(answer.message);
    masked(/** @type {any} */ (answer.error).stderrTail);
  } finally {
    for (const name of Object.keys(env)) if (!(name in inherited)) delete process.env[name];
  }
});
