'use strict';

// An agent that asks and takes back while JavaScript is busy: it waits for JavaScript, and memory does not grow with it.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AcpClient } = require('../..');

/** How much the agent would say, in bytes. */
const FLOOD = 60_000_000;

/** Answers what it has to, then asks one question after the other. */
const AGENT = `
const send = (o) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...o }) + '\\n');
const [method, params] = JSON.parse(process.argv[1]);
let n = 0;
function flood(id) {
  for (;;) {
    if (n * 10000 > ${FLOOD}) return send({ id, result: { stopReason: 'end_turn' } });
    let lines = '';
    for (let i = 0; i < 50; i++, n++) {
      lines += JSON.stringify({ jsonrpc: '2.0', id: 'q' + n, method, params: { ...params, pad: 'x'.repeat(10000) } }) + '\\n';
      lines += JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'q' + n } }) + '\\n';
    }
    if (!process.stdout.write(lines)) return process.stdout.once('drain', () => flood(id));
  }
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1 } });
  else if (method === 'session/new') send({ id, result: { sessionId: 's1' } });
  else if (method === 'session/prompt') flood(id);
}).on('close', () => process.exit());
`;

const FORM = { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties: {} } };
const TOOL = { sessionId: 's1', toolCall: { toolCallId: 't' }, options: [{ optionId: 'y', name: 'Y', kind: 'allow_once' }] };

/** @type {Array<[string, object]>} */
const QUESTIONS = [
  ['_x/ask', {}],
  ['_x/ask', { sessionId: 's1' }],
  ['elicitation/create', { ...FORM, requestId: 4711 }],
  ['elicitation/create', { ...FORM, sessionId: 's1' }],
  ['session/request_permission', TOOL],
];

const never = () => /** @type {Promise<any>} */ (new Promise(() => {}));

for (const [method, params] of QUESTIONS) {
  test(`a busy host is not flooded by ${method} ${'sessionId' in params ? 'in a session' : 'outside of any'}`, async () => {
    const client = await AcpClient.launch({
      command: process.execPath, args: ['-e', AGENT, JSON.stringify([method, params])], cwd: process.cwd(), env: {},
      onExtRequest: never, onElicitation: never, onPermission: never, elicitation: { form: true, url: true },
      });
    const session = await client.newSession();
    const turn = session.prompt('x');
    // Busy until nothing more is read, or all is.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    let received = -1;
    for (;;) {
      Atomics.wait(pause, 0, 0, 400);
      const now = client.diagnostics().bytesReceived;
      if (now === received && now > 10_000) break;
      received = now;
    }
    // A permission request shows the host less than the agent sent.
    if (method !== 'session/request_permission') assert.ok(received < FLOOD / 2, `${received} bytes were read`);
    // Once JavaScript listens again nothing is lost.
    assert.equal((await turn).stopReason, 'end_turn');
    await client.close({ graceMs: 0 });
  });
}
