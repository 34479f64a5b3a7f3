'use strict';

// Questions for a person: advertised only with a handler, shown clean, and answered only with what fits.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answered, end, gate, scripted } = require('../support/scripted.js');

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name\u001b[31m', minLength: 2, pattern: '^[a-z]+$' },
    size: { type: 'string', enum: ['s', 'm'] },
    count: { type: 'integer', minimum: 1, maximum: 3 },
    mail: { type: 'string', format: 'email' },
    agree: { type: 'boolean' },
    tags: { type: 'array', minItems: 1, items: { type: 'string', enum: ['a', 'b'] } },
  },
  required: ['name'],
};

/**
 * @param {any} params
 * @param {any} [as]
 * @returns {import('../support/fake-agent.js').Step}
 */
function ask(params, as = 'ask') {
  return { do: 'request', method: 'elicitation/create', params: { message: 'Who?', requestId: 99, ...params }, as };
}

const form = ask({ mode: 'form', requestedSchema: SCHEMA });
const link = (/** @type {string} */ url, id = 'e1') => ask({ mode: 'url', elicitationId: id, url });

for (const [name, options, expected] of /** @type {Array<[string, any, any]>} */ ([
  ['no handler', {}, { $absent: true }],
  ['a handler', { onElicitation: () => ({ action: 'decline' }) }, { $exact: { form: {}, url: {} } }],
  ['a handler for forms', { onElicitation: () => ({ action: 'decline' }), elicitation: { url: false } }, { $exact: { form: {} } }],
  ['a handler for addresses', { onElicitation: () => ({ action: 'decline' }), elicitation: { form: false } }, { $exact: { url: {} } }],
])) {
  test(`with ${name} exactly that is advertised and served`, async () => {
    const offers = (/** @type {string} */ mode) => expected.$exact !== undefined && mode in expected.$exact;
    const outcome = (/** @type {string} */ mode) =>
      offers(mode) ? { result: { action: 'decline' } } : { error: { code: expected.$exact ? -32602 : -32601 } };
    const client = await scripted(
      [
        { do: 'initialize', params: { clientCapabilities: { elicitation: expected } } },
        form, { do: 'expect_response', to: 'ask', ...outcome('form') },
        link('https://example.com/'), { do: 'expect_response', to: 'ask', ...outcome('url') },
        ask({ mode: 'voice' }), { do: 'expect_response', to: 'ask', error: { code: expected.$exact ? -32602 : -32601 } },
        ...answered('_test/done'),
      ],
      options,
    );
    await client.request('_test/done');
    await end(client);
  });
}

test('a form is shown clean, can be checked beforehand, and goes out as it was filled in', async () => {
  const content = { name: 'ada', size: 'm', count: 2, mail: 'a@b.example', agree: true, tags: ['a', 'b'] };
  /** @type {any} */
  let seen;
  const client = await scripted(
    [{ do: 'initialize' }, form, { do: 'expect_response', to: 'ask', result: { $exact: { action: 'accept', content } } }, ...answered('_test/done')],
    {
      onElicitation(request) {
        seen = request;
        assert.ok(request.mode === 'form');
        assert.deepEqual(request.validate(content), []);
        const wrong = { name: 'A', size: 'l', count: 9, mail: 'x', agree: 'yes', tags: [], extra: 1 };
        assert.deepEqual(
          request.validate(wrong).map(({ property }) => property).sort(),
          ['agree', 'count', 'extra', 'mail', 'name', 'size', 'tags'],
        );
        assert.deepEqual(request.validate({}), [{ property: 'name', message: 'is required' }]);
        return { action: 'accept', content };
      },
    },
  );
  await client.request('_test/done');
  assert.equal(seen.requestedSchema.properties.name.title, 'Name');
  await end(client);
});

test('an answer that does not fit is a cancel, and the host is warned without the values', async () => {
  /** @type {string[]} */
  const warnings = [];
  const onWarning = (/** @type {Error} */ warning) => {
    if (warning.name === 'AcpElicitationWarning') warnings.push(warning.message);
  };
  process.on('warning', onWarning);
  /** @type {any[]} */
  const answers = [
    { action: 'accept', content: { name: 'NOT-THIS' } },
    { action: 'accept' },
    { action: 'accept', content: 'text' },
    { action: 'approve' },
    undefined,
    'accept',
    new Error('the host failed'),
  ];
  const steps = answers.flatMap(() => [form, { do: 'expect_response', to: 'ask', result: { $exact: { action: 'cancel' } } }]);
  const left = [...answers];
  const client = await scripted([{ do: 'initialize' }, ...steps, ...answered('_test/done')], {
    onElicitation() {
      const answer = left.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  await client.request('_test/done');
  await new Promise(setImmediate);
  process.off('warning', onWarning);
  assert.equal(warnings.length, 3, warnings.join('\n'));
  assert.match(warnings[0], /name does not match the pattern/);
  assert.ok(!warnings.join('').includes('NOT-THIS'));
  await end(client);
});

test('a form that cannot be checked in linear time, or is not flat, never reaches the host', async () => {
  const property = (/** @type {any} */ schema) => ask({ mode: 'form', requestedSchema: { type: 'object', properties: { p: schema } } });
  const bad = [
    property({ type: 'string', pattern: '(a+)+\\1' }),
    property({ type: 'string', pattern: '(?=a)' }),
    property('string'),
    ask({ mode: 'form', requestedSchema: { type: 'object', required: ['ghost'] } }),
    ask({ mode: 'form', requestedSchema: { type: 'string' } }),
    ask({ mode: 'form' }),
    ask({ mode: 'form', message: 5, requestedSchema: SCHEMA }),
  ];
  const steps = bad.flatMap((step) => [step, { do: 'expect_response', to: 'ask', error: { code: -32602 } }]);
  const client = await scripted([{ do: 'initialize' }, ...steps, ...answered('_test/done')], {
    onElicitation: () => assert.fail('asked'),
  });
  await client.request('_test/done');
  await end(client);
});

test('an address is shown whole with its host; what is none is refused; accepting is consent and nothing else', async () => {
  const bad = ['javascript:alert(1)', 'file:///etc/passwd', 'https://bank.example@evil.example/', 'example.com', 'https://', 'https://a b/'];
  /** @type {any[]} */
  const seen = [];
  const client = await scripted(
    [
      { do: 'initialize' },
      ...bad.flatMap((url) => [link(url), { do: 'expect_response', to: 'ask', error: { code: -32602 } }]),
      link('https://bücher.example:8443/a?b=c#d'),
      { do: 'expect_response', to: 'ask', result: { $exact: { action: 'accept' } } },
      ...answered('_test/done'),
    ],
    {
      onElicitation(request) {
        seen.push(request);
        return { action: 'accept', content: { smuggled: 'x' } };
      },
    },
  );
  await client.request('_test/done');
  assert.deepEqual(seen.map(({ url, host }) => [url, host]), [['https://bücher.example:8443/a?b=c#d', 'xn--bcher-kva.example:8443']]);
  await end(client);
});

test('a completion is told once, and only for an address that was accepted', async () => {
  const complete = (/** @type {string} */ elicitationId) => ({ do: 'notify', method: 'elicitation/complete', params: { elicitationId } });
  /** @type {string[]} */
  const completed = [];
  const done = gate();
  const client = await scripted(
    [
      { do: 'initialize' },
      complete('e1'),
      link('https://x/', 'e1'), { do: 'expect_response', to: 'ask' },
      link('https://x/no', 'e2'), { do: 'expect_response', to: 'ask' },
      complete('e2'), complete('unknown'), complete('e1'), complete('e1'),
      { do: 'notify', method: 'elicitation/complete', params: { nonsense: 1 } },
      { do: 'notify', method: '_test/next' },
    ],
    {
      onElicitation: (request) => ({ action: request.mode === 'url' && request.url.endsWith('no') ? 'decline' : 'accept' }),
      onElicitationComplete: ({ elicitationId }) => void completed.push(elicitationId),
      onExtNotification: done.open,
    },
  );
  await done.opened;
  assert.deepEqual(completed, ['e1']);
  await end(client);
});

test('a question of a session belongs to a session that is open', async () => {
  const client = await scripted(
    [
      { do: 'initialize' }, { do: 'session_new' },
      ask({ mode: 'form', requestId: undefined, sessionId: 's1', requestedSchema: { type: 'object' } }),
      { do: 'expect_response', to: 'ask', result: { action: 'accept', content: { $exact: {} } } },
      ask({ mode: 'form', requestId: undefined, sessionId: 'other', requestedSchema: { type: 'object' } }),
      { do: 'expect_response', to: 'ask', error: { code: -32002 } },
      ...answered('_test/done'),
    ],
    { onElicitation: (request) => ({ action: 'sessionId' in request && request.sessionId === 's1' ? 'accept' : 'decline' }) },
  );
  await client.newSession();
  await client.request('_test/done');
  await end(client);
});
