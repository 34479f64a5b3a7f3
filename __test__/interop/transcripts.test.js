'use strict';

// The transcripts of real agents in the repository: their format, what they show, and that nothing personal is in them.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { describe, test } = require('node:test');

const { loadTable } = require('../../interop/lib/table.js');
const { cleaner, MAX_BYTES, personal, Recorder, REPO_DIR } = require('../../interop/lib/transcript.js');

const files = fs.readdirSync(REPO_DIR).filter((name) => name.endsWith('.jsonl'));

describe('the recorded transcripts', () => {
  test('there are at least twelve, each of an agent in the table', () => {
    assert.ok(files.length >= 12, `${files.length}`);
    const ids = loadTable().map(({ id }) => `${id}.jsonl`);
    assert.deepEqual(files.filter((name) => !ids.includes(name)), []);
  });

  for (const file of files) {
    const text = fs.readFileSync(path.join(REPO_DIR, file), 'utf8');
    const [head, ...lines] = text.trimEnd().split('\n').map((line) => JSON.parse(line));

    test(`${file} has the format`, () => {
      assert.ok(text.length <= MAX_BYTES);
      assert.equal(head.transcript, 1);
      assert.ok(head.agent && head.version, JSON.stringify(head));
      let before = 0;
      for (const line of lines) {
        assert.deepEqual(Object.keys(line), ['t', 'dir', 'frame']);
        assert.ok(Number.isSafeInteger(line.t) && line.t >= before, `${line.t} after ${before}`);
        assert.ok(['in', 'out'].includes(line.dir));
        assert.equal(line.frame.jsonrpc, '2.0');
        before = line.t;
      }
    });

    test(`${file} shows a whole conversation`, () => {
      const sent = lines.filter(({ dir }) => dir === 'out').map(({ frame }) => frame);
      const answers = lines.filter(({ dir, frame }) => dir === 'in' && !frame.method);
      const answered = new Set(answers.map(({ frame }) => frame.id));
      const methods = sent.map(({ method }) => method);
      for (const method of ['initialize', 'session/new', 'session/prompt', 'session/cancel']) {
        assert.ok(methods.includes(method), method);
      }
      // An agent that ignores the cancel never answers its prompt, and nothing else stays open.
      const open = sent.filter(({ id, method }) => method && id !== undefined && !answered.has(id));
      assert.deepEqual(open.filter(({ method }) => method !== 'session/prompt'), []);
      assert.ok(open.length <= 1);
      const chunks = lines.filter(({ frame }) => frame.params?.update?.sessionUpdate === 'agent_message_chunk');
      assert.ok(chunks.length > 0);
    });

    test(`${file} holds nothing personal`, () => {
      assert.deepEqual(personal(text), []);
      for (const name of [os.userInfo().username, os.hostname()].filter((word) => word.length > 4)) {
        assert.ok(!text.includes(name), name);
      }
    });
  }
});

const unixOnly = { skip: process.platform === 'win32' && 'the kit runs agents with a Unix shell, with its paths' };

describe('the recorder', unixOnly, () => {
  const root = path.join(os.tmpdir(), 'acp-interop-0123456789ab');
  /** @type {any} */
  const scratch = { mark: 'acp-interop-0123456789ab', cwd: path.join(root, 'project') };
  const clean = cleaner(scratch, { dir: '/srv/agents/some-agent', port: 40123 });

  test('replaces the folders, the port, addresses and keys', () => {
    const said = [
      `${root}/project/a.txt`,
      `${root}/home/.config`,
      `${root}/tmp/x`,
      `${root.replaceAll('/', '-')}-project`,
      '/srv/agents/some-agent/node_modules/x.js',
      'http://127.0.0.1:40123/v1',
      'someone@firm.co.uk',
      'sk-abcdefghijklmnopqrstuvwxyz',
      path.join(os.homedir(), 'secret'),
    ];
    assert.deepEqual(JSON.parse(clean(JSON.stringify(said))), [
      '/home/user/project/a.txt',
      '/home/user/.config',
      '/tmp/x',
      '-home-user-project',
      '/opt/agent/node_modules/x.js',
      'http://127.0.0.1:8080/v1',
      'user@example.com',
      '[masked]',
      '/home/user/secret',
    ]);
  });

  test('writes a header and one line a message, and keeps what is no message as text', () => {
    const recorder = new Recorder();
    /**
     * @param {number} time
     * @param {'to_agent' | 'from_agent'} direction
     * @param {string} frame
     * @param {boolean} truncated
     */
    const see = (time, direction, frame, truncated = false) => recorder.see({ time, direction, frame, truncated });
    see(1_000, 'to_agent', '{"jsonrpc":"2.0","id":1}');
    see(1_250, 'from_agent', `{"jsonrpc":"2.0","cwd":"${root}/project"}`);
    see(1_251, 'from_agent', '{"jsonrpc":"2.0","long":"', true);
    see(1_252, 'from_agent', `no JSON in ${root}/project`);
    assert.equal(recorder.broken, 2);
    assert.deepEqual(recorder.write({ agent: 'a', version: '1' }, clean).trimEnd().split('\n'), [
      '{"transcript":1,"agent":"a","version":"1"}',
      '{"t":0,"dir":"out","frame":{"jsonrpc":"2.0","id":1}}',
      '{"t":250,"dir":"in","frame":{"jsonrpc":"2.0","cwd":"/home/user/project"}}',
      '{"t":251,"dir":"in","text":"{\\"jsonrpc\\":\\"2.0\\",\\"long\\":\\"","truncated":true}',
      '{"t":252,"dir":"in","text":"no JSON in /home/user/project"}',
    ]);
  });

  test('what is left of a machine or a person is found', () => {
    const found = (/** @type {string} */ text) => personal(JSON.stringify({ frame: { text } }));
    const key = 'sk-abcdefghijklmnopqrstuv';
    for (const text of ['/home/jane/x', 'at /Users/jane/x.js', 'jane@firm.com', `"${root}"`, key]) {
      assert.equal(found(text).length > 0, true, text);
    }
    const others = ['/home/user/project/x', 'application/json', '/bin/bash -lc', 'user@example.com', 'and/or', '/help'];
    for (const text of others) {
      assert.deepEqual(found(text), [], text);
    }
  });
});
