'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const {
  extractJsonObjects, inferVerdictFromProse, mapParsedToVerdict, normalizeVerdictToken, runCliAgentValidation,
} = require('../..');

describe('words', () => {
  it('are those that agents use', () => {
    const words = {
      pass: ['pass', 'passed', 'approve', 'approved', 'ok', 'success', ' PASS '],
      fail: ['fail', 'failed', 'revise', 'reject', 'rejected', 'failure'],
      blocked: ['blocked', 'block', 'unavailable'],
      error: ['error', 'errored'],
    };
    for (const [status, tokens] of Object.entries(words)) {
      for (const token of tokens) assert.equal(normalizeVerdictToken(token), status);
    }
    for (const token of ['maybe', '', 7, null, undefined]) assert.equal(normalizeVerdictToken(token), undefined);
  });

  it('never pass in prose', () => {
    assert.equal(inferVerdictFromProse('All tests pass. Approved!'), undefined);
    assert.equal(inferVerdictFromProse('It fails.'), 'fail');
    assert.equal(inferVerdictFromProse('Please revise this'), 'fail');
    assert.equal(inferVerdictFromProse('I am blocked, it failed'), 'blocked');
  });
});

describe('mapParsedToVerdict', () => {
  it('reads the flag, then the words, then the boolean, then prose', () => {
    assert.equal(mapParsedToVerdict({ blocked: true, verdict: 'pass' }, '').status, 'blocked');
    assert.equal(mapParsedToVerdict({ verdict: 'hm', status: 'fail', passed: true }, '').status, 'fail');
    assert.equal(mapParsedToVerdict({ passed: true }, 'it fails').status, 'pass');
    assert.equal(mapParsedToVerdict({}, 'it fails').status, 'fail');
    assert.deepEqual(mapParsedToVerdict(undefined, ''), {
      status: 'error', assertions: [], summary: 'Validator produced no decodable verdict',
    });
  });

  it('passes an assertion only for a literal true', () => {
    const { assertions } = mapParsedToVerdict({
      verdict: 'pass', assertions: [{ assertionId: 'a', passed: true }, { id: 'b', passed: 'true', message: 'm' }, { passed: true }],
    }, '');
    assert.deepEqual(assertions, [{ assertionId: 'a', passed: true }, { assertionId: 'b', passed: false, message: 'm' }]);
  });
});

describe('extractJsonObjects', () => {
  it('finds JSON on lines, in prose and in fences', () => {
    assert.deepEqual(extractJsonObjects('{"a":1}\nnoise\n{"b":2}'), [{ a: 1 }, { b: 2 }]);
    assert.deepEqual(extractJsonObjects('so: {"a":1} done'), [{ a: 1 }]);
    assert.deepEqual(extractJsonObjects('```json\n{"a":1}\n```'), [{ a: 1 }]);
    for (const none of ['', 'no json', '{broken', undefined]) assert.deepEqual(extractJsonObjects(none), []);
  });

  it('keeps a pretty-printed verdict whole', () => {
    const verdict = { verdict: 'pass', assertions: [{ id: 'a', passed: true }] };
    const text = '{\n  "verdict": "pass",\n  "assertions": [\n    {"id":"a","passed":true}\n  ]\n}';
    assert.deepEqual(extractJsonObjects(text).at(-1), verdict);
  });
});

describe('runCliAgentValidation', () => {
  const runtime = (text, stopReason) => ({
    id: 'x', name: 'x', describeModel: () => 'x',
    createSession: async (options) => ({ session: { say: options.onText } }),
    promptWithFallback: async (session) => {
      session.say(text);
      return { stopReason };
    },
  });
  const options = { prompt: 'p', cwd: '/' };

  it('maps a clean answer', async () => {
    assert.equal((await runCliAgentValidation(runtime('{"verdict":"pass"}', 'end_turn'), options)).status, 'pass');
    assert.equal((await runCliAgentValidation(runtime('Looks fine, pass', 'end_turn'), options)).status, 'error');
  });

  it('makes an error of a cut answer, whatever it says', async () => {
    const verdict = await runCliAgentValidation(runtime('{"verdict":"pass"}', 'max_tokens'), options);
    assert.deepEqual(verdict, {
      status: 'error', assertions: [],
      summary: 'ACP prompt ended with stopReason=max_tokens\n--- output tail ---\n{"verdict":"pass"}',
    });
  });
});
