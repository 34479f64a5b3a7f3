'use strict';

// Who serves `fs/read_text_file` and `fs/write_text_file` on a connection: the handler where it can, else the runtime.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { afterEach, beforeEach, describe, it } = require('node:test');
const { createBridgingClientHandler, newAcpSession, promptAcpSession } = require('../..');
const { adapter, connection, turn } = require('./agent.js');

/** @type {string} */
let cwd;
beforeEach(() => {
  cwd = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-served-')));
});
afterEach(() => fs.rmSync(cwd, { recursive: true, force: true }));

const at = (name) => path.join(cwd, name);
const read = (file, more = {}) => ({ do: 'request', as: 'r', method: 'fs/read_text_file', params: { sessionId: 's1', path: file, ...more } });
const write = (file, content) => ({ do: 'request', as: 'w', method: 'fs/write_text_file', params: { sessionId: 's1', path: file, content } });
const result = (to, value) => ({ do: 'expect_response', to, result: value });
const error = (to, value) => ({ do: 'expect_response', to, error: value });

/** Plays these requests in a turn; every answer is checked by the agent, which ends the turn only if all were right. */
async function play(steps, handler, advertiseFs = { read: true, write: true }) {
  const open = await connection(turn(steps), { clientHandler: handler, advertiseFs, cwd });
  try {
    await newAcpSession(open, { cwd });
    assert.equal(await promptAcpSession(open, 's1', [{ type: 'text', text: 'hi' }]), 'end_turn');
  } finally {
    open.dispose();
    await open.child.gone;
  }
}

/** A handler of somebody else's. */
function foreign(files) {
  return {
    sessionUpdate: async () => {},
    requestPermission: async () => ({ outcome: { outcome: 'cancelled' } }),
    ...files,
  };
}

describe('a handler with files of its own', () => {
  it('serves them, as the agent asked for them', async () => {
    const seen = [];
    const handler = foreign({
      async readTextFile(params) {
        seen.push(params);
        return { content: `buffer of ${params.path}` };
      },
      async writeTextFile(params) {
        seen.push(params);
      },
    });
    await play([
      read('untitled:1', { line: 2, limit: 5 }), result('r', { content: 'buffer of untitled:1' }),
      write('/elsewhere/a.txt', 'new'), result('w', {}),
    ], handler);
    assert.deepEqual(seen, [
      { sessionId: 's1', path: 'untitled:1', line: 2, limit: 5 },
      { sessionId: 's1', path: '/elsewhere/a.txt', content: 'new' },
    ]);
  });

  it('is called as a method of the handler', async () => {
    const handler = foreign({
      text: 'mine',
      async readTextFile() {
        return { content: this.text };
      },
    });
    await play([read(at('a')), result('r', { content: 'mine' })], handler);
  });

  it('is asked only for what was advertised', async () => {
    const handler = foreign({ readTextFile: () => assert.fail('reads are off'), writeTextFile: async () => ({}) });
    const steps = [read(at('a')), error('r', { code: -32601 }), write(at('a'), 'x'), result('w', {})];
    await play(steps, handler, { read: false, write: true });
  });

  it('may refuse, with a code of its own', async () => {
    const refusals = [
      [new Error('no such buffer'), { code: -32603, message: 'no such buffer' }],
      [Object.assign(new Error('gone'), { code: -32002, data: { uri: 'x' } }), { code: -32002, message: 'gone', data: { uri: 'x' } }],
      [Object.assign(new Error('denied'), { code: 'denied_secret', rpc: { code: -32602, data: { reason: 'r' } } }),
        { code: -32602, message: 'denied', data: { reason: 'r' } }],
      ['a string', { code: -32603 }],
    ];
    for (const [thrown, expected] of refusals) {
      const handler = foreign({
        async readTextFile() {
          throw thrown;
        },
      });
      await play([read(at('a')), error('r', expected)], handler);
    }
  });

  it('that answers nonsense fails that request alone', async () => {
    const circular = { content: 'x' };
    circular.self = circular;
    for (const answer of [undefined, null, {}, { content: 7 }, circular, { content: 'x', n: 1n }]) {
      const handler = foreign({ readTextFile: async () => answer });
      await play([read(at('a')), error('r', { code: -32603 })], handler);
    }
  });
});

describe('a handler of createBridgingClientHandler', () => {
  const allowing = { permissionPolicy: { rules: { file_write_delete: 'allow' } } };

  it('serves the directory that it was made for, behind its jail and its gate', async () => {
    fs.writeFileSync(at('a.txt'), 'one\ntwo\n');
    fs.writeFileSync(at('.env'), 'SECRET=1');
    const files = { cwd, allowRead: true, allowWrite: true };
    const { handler } = createBridgingClientHandler({}, allowing, files, { allowUnrestricted: true });
    await play([
      read(at('a.txt'), { line: 2, limit: 1 }), result('r', { content: 'two' }),
      read('a.txt'), result('r', { content: 'one\ntwo\n' }),
      read(at('.env')), error('r', { code: -32602, data: { code: 'denied_secret' } }),
      read(path.join(os.tmpdir(), 'elsewhere.txt')), error('r', { code: -32602, data: { code: 'path_outside_cwd' } }),
      read(at('none')), error('r', { code: -32002 }),
      write('b.txt', 'new'), result('w', {}),
    ], handler);
    assert.equal(fs.readFileSync(at('b.txt'), 'utf8'), 'new');
  });

  it('writes nothing that its gate does not allow', async () => {
    const { handler } = createBridgingClientHandler({}, undefined, { cwd, allowRead: false, allowWrite: true });
    await play([write(at('a.txt'), 'x'), error('w', { code: -32602 })], handler);
    assert.deepEqual(fs.readdirSync(cwd), []);
  });
});

describe('a handler without files', () => {
  it('has the runtime read for it, inside the session’s directory, and nobody writes', async () => {
    fs.writeFileSync(at('a.txt'), 'text');
    await play([
      read('a.txt'), result('r', { content: 'text' }),
      read('../a.txt'), error('r', { code: -32602 }),
      write(at('b.txt'), 'x'), error('w', { code: -32602 }),
    ], foreign({}));
    assert.deepEqual(fs.readdirSync(cwd), ['a.txt']);
  });
});

describe('a relative path', () => {
  it('is resolved below the session’s directory', async () => {
    fs.mkdirSync(at('sub'));
    fs.writeFileSync(at('sub/a.txt'), 'text');
    const gate = { permissionPolicy: { rules: { file_write_delete: 'allow' } } };
    const runtime = adapter(turn([
      read('sub/a.txt'), result('r', { content: 'text' }),
      read('./sub/../sub/a.txt'), result('r', { content: 'text' }),
      read('../outside.txt'), error('r', { code: -32602, data: { code: 'path_outside_cwd' } }),
      write('sub/b.txt', 'new'), result('w', {}),
    ]), { acpFsRead: true, acpFsWrite: true, acpAllowUnrestricted: true });
    const { session } = await runtime.createSession({ cwd, systemPrompt: '', actionGateContext: gate });
    assert.deepEqual(await runtime.promptWithFallback(session, 'go'), { stopReason: 'end_turn' });
    await runtime.dispose(session);
    assert.equal(fs.readFileSync(at('sub/b.txt'), 'utf8'), 'new');
  });
});
