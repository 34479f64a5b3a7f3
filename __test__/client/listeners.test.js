'use strict';

// A listener that answers with a promise, although nobody waits for one: that it fails ends no host.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { AcpRuntimeAdapter, connect, createEventBridge } = require('../..');
const { script } = require('../support/fake-agent.js');
const { answered, end, scripted } = require('../support/scripted.js');

const STEPS = [
  { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
  { do: 'notify', method: '_x/y' },
  { do: 'text', text: 'hi' }, { do: 'text', text: 'hm', kind: 'agent_thought_chunk' },
  { do: 'update', update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T', status: 'completed' } },
  { do: 'prompt_end' },
];

/** Rejections that nobody handled while something ran. @param {() => Promise<unknown>} run */
async function unhandled(run) {
  /** @type {unknown[]} */
  const heard = [];
  const hear = (/** @type {unknown} */ reason) => void heard.push(reason);
  process.on('unhandledRejection', hear);
  try {
    await run();
    await sleep(20);
    return heard;
  } finally {
    process.off('unhandledRejection', hear);
  }
}

let calls = 0;
const reject = async () => {
  calls += 1;
  throw new Error('a listener rejected');
};

test('listeners of the typed interface', async () => {
  calls = 0;
  assert.deepEqual(await unhandled(async () => {
    const client = await scripted(STEPS, { onExtNotification: reject, onWire: reject });
    await (await client.newSession()).prompt('x');
    await end(client);
  }), []);
  assert.ok(calls > 1);
});

test('what a handler answers or throws can fail even when it is looked at, and the agent still gets an answer', async () => {
  /** @type {any} */
  const circle = {};
  circle.self = circle;
  const throwing = (/** @type {object} */ properties) => {
    throw Object.defineProperties(new Error('x'), properties);
  };
  const hostile = /** @type {Record<string, () => any>} */ ({
    _a: () => ({ toJSON: () => throwing({ data: { value: circle } }) }),
    _b: () => throwing({ code: { get: () => throwing({}) } }),
    _c: () => throwing({ rpc: { get: () => throwing({}) } }),
    _d: () => throwing({ data: { value: 1n } }),
    _e: () => { throw null; },
    _f: () => circle,
  });
  const asked = Object.keys(hostile).flatMap((method) => [
    { do: 'request', method, as: method }, { do: 'expect_response', to: method, error: { code: -32603 } },
  ]);
  assert.deepEqual(await unhandled(async () => {
    const client = await scripted([{ do: 'initialize' }, ...asked, ...answered('_test/done')], { onExtRequest: (method) => hostile[method]() });
    await client.request('_test/done');
    await end(client);
  }), []);
});

test('a listener for the end of a connection’s process', async () => {
  let heard = 0;
  assert.deepEqual(await unhandled(async () => {
    const { command, args } = script([{ do: 'initialize' }]);
    const connection = await connect({ binaryPath: command, args, cwd: process.cwd(), env: {} });
    connection.child.once('exit', () => {
      heard += 1;
      throw new Error('a listener threw');
    });
    connection.dispose();
    while (heard === 0) await sleep(5);
  }), []);
});

test('callbacks and subscribers of a session of the adapter', async () => {
  calls = 0;
  assert.deepEqual(await unhandled(async () => {
    const { command, args } = script(STEPS);
    const adapter = new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args });
    const callbacks = { onText: reject, onThinking: reject, onToolStart: reject, onToolEnd: reject };
    const { session } = await adapter.createSession({ cwd: process.cwd(), systemPrompt: '', ...callbacks });
    session.subscribe(reject);
    await adapter.promptWithFallback(session, 'x');
    await adapter.dispose(session);
  }), []);
  assert.equal(calls, 8);
});

test('callbacks of an event bridge', async () => {
  calls = 0;
  assert.deepEqual(await unhandled(async () => {
    const bridge = createEventBridge({ onText: reject, onThinking: reject, onToolStart: reject, onToolEnd: reject });
    const content = { type: 'text', text: 'x' };
    bridge.handleSessionUpdate(/** @type {any} */ ({ sessionUpdate: 'agent_message_chunk', content }));
    bridge.handleSessionUpdate(/** @type {any} */ ({ sessionUpdate: 'agent_thought_chunk', content }));
    bridge.handleSessionUpdate(/** @type {any} */ ({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'T', status: 'completed' }));
  }), []);
  assert.equal(calls, 4);
});
