'use strict';

// What counts as an answer for the command line: the same as for everybody else.

const assert = require('node:assert/strict');
const test = require('node:test');

const { acp, fakeApi, says } = require('./world');

const NOTICE = 'Not logged in · Please run /login';

test('a notice to sign in is a failure that says what to do', async () => {
  const api = () => fakeApi({ events: [says(NOTICE)] });
  const plain = await acp(['ask', 'hi'], { api: api() });
  assert.equal(plain.code, 1);
  assert.match(plain.stderr, /not signed in.*acp login.*\[sign_in_required\]/);
  const recovered = await acp(['ask', '--recover-json', 'hi'], { api: api() });
  assert.equal(recovered.code, 1);
  assert.match(recovered.stderr, /not signed in/);
  assert.doesNotMatch(recovered.stderr, /no JSON/);
  const json = await acp(['ask', '--json', 'hi'], { api: api() });
  assert.equal(json.code, 1);
  const document = JSON.parse(json.stdout);
  assert.deepEqual([document.ok, document.text, document.stopReason, document.error.code], [false, NOTICE, 'end_turn', 'sign_in_required']);
});

test('an agent that gives no reason for the end of its turn is taken at its word', async () => {
  const api = () => fakeApi({ events: [says('done')], result: { stopReason: '' } });
  const plain = await acp(['ask', 'hi'], { api: api() });
  assert.deepEqual([plain.code, plain.stdout, plain.stderr], [0, 'done\n', '']);
  const json = await acp(['ask', '--json', 'hi'], { api: api() });
  assert.equal(json.code, 0);
  const document = JSON.parse(json.stdout);
  assert.equal(document.ok, true);
  assert.equal('stopReason' in document, false);
  assert.equal('error' in document, false);
});

test('no JSON is taken from an answer that was cut', async () => {
  const api = () => fakeApi({ events: [says('{"verdict":"pass"}')], result: { textTruncated: true } });
  const plain = await acp(['ask', '--recover-json', 'hi'], { api: api() });
  assert.deepEqual([plain.code, plain.stdout], [1, '']);
  assert.match(plain.stderr, /longer than is kept/);
  const json = await acp(['ask', '--recover-json', '--json', 'hi'], { api: api() });
  assert.equal(json.code, 1);
  const document = JSON.parse(json.stdout);
  assert.equal(document.ok, false);
  assert.equal('parsed' in document, false);
  // The text itself is an answer all the same.
  assert.equal((await acp(['ask', 'hi'], { api: api() })).code, 0);
});
