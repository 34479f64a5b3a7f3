'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { RawClient, withAgent } = require('./raw-client');

const kinds = (/** @type {RawClient} */ client) =>
  client
    .updates()
    .map(({ sessionUpdate }) => sessionUpdate)
    .filter((kind, index, all) => kind !== all[index - 1] && kind !== 'available_commands_update');

test('plays a whole turn: thoughts, plan, tool call, answer, usage', withAgent(async (client) => {
  const sessionId = await client.session();
  const { result } = await client.prompt(sessionId, 'Say hello');
  assert.equal(result.stopReason, 'end_turn');
  assert.deepEqual(kinds(client), [
    'agent_thought_chunk',
    'plan',
    'tool_call',
    'tool_call_update',
    'plan',
    'agent_message_chunk',
    'plan',
    'usage_update',
  ]);
  assert.match(client.text(), /not a model\.\nYou wrote 2 words: Say hello$/);
  assert.ok(client.updates('agent_message_chunk').length > 1);
  const call = [...client.updates('tool_call'), ...client.updates('tool_call_update')];
  assert.deepEqual(call.map(({ status }) => status), ['pending', 'in_progress', 'completed']);
  assert.equal(new Set(call.map(({ toolCallId }) => toolCallId)).size, 1);
  assert.deepEqual(call[2].rawOutput, { words: 2 });
  const plans = client.updates('plan').map(({ entries }) => entries.map((/** @type {any} */ entry) => entry.status));
  assert.deepEqual(plans.at(-1), ['completed', 'completed', 'completed']);
  const { inputTokens, outputTokens, thoughtTokens, totalTokens } = result.usage;
  assert.equal(inputTokens, 2);
  assert.equal(totalTokens, inputTokens + outputTokens + thoughtTokens);
}));

test('says the same thing every time', async () => {
  const transcripts = await Promise.all(
    [1, 2].map(async () => {
      const client = new RawClient();
      const sessionId = await client.session();
      await client.prompt(sessionId, 'the same [json] prompt');
      await client.end();
      return client.messages;
    }),
  );
  assert.deepEqual(transcripts[0], transcripts[1]);
});

test('leaves out what a word leaves out', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, '[plain] hi');
  assert.deepEqual(kinds(client), ['agent_message_chunk', 'usage_update']);
  await client.prompt(sessionId, '[tool] hi');
  assert.equal(client.updates('tool_call').length, 1);
  assert.equal(client.updates('plan').length, 0);
}));

test('takes a command at the start of the prompt for a word', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, '/plain hello');
  assert.match(client.text(), /You wrote 1 word: hello$/);
}));

test('leaves other brackets alone', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, '[plain] - [ ] a task, [link](x), [unknown]');
  assert.match(client.text(), /: - \[ \] a task, \[link\]\(x\), \[unknown\]$/);
}));

test('never cuts a character in two', withAgent(async (client) => {
  const sessionId = await client.session();
  const text = `${'👩‍👩‍👧'.repeat(120)} ${'é'.repeat(500)}`;
  await client.prompt(sessionId, `[plain] ${text}`);
  for (const { content } of client.updates('agent_message_chunk')) assert.ok(content.text.isWellFormed());
  assert.ok(client.text().endsWith(text));
}));

test('repeats a long prompt up to a bound', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, `[plain] a${'👍'.repeat(100_000)}`);
  assert.ok(client.text().length < 5000);
  assert.ok(client.text().endsWith('…'));
  assert.ok(client.text().isWellFormed());
}));

test('names what was attached, and knows of the system prompt', withAgent(async (client) => {
  const systemPrompt = { mode: 'append', content: [{ type: 'text', text: 'Be very brief.' }] };
  const sessionId = await client.session({}, { systemPrompt });
  await client.prompt(sessionId, [
    { type: 'text', text: '[plain] look' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' },
    { type: 'resource', resource: { uri: 'file:///b.txt', text: 'b' } },
  ]);
  assert.match(client.text(), /You attached: image \(image\/png\), link to file:\/\/\/a\.txt, resource file:\/\/\/b\.txt\./);
  assert.match(client.text(), /The system prompt has 3 words\./);
}));

test('ends with JSON when asked', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, '[plain] [json] two words');
  const json = JSON.parse(client.text().split('\n').at(-1) ?? '');
  assert.deepEqual(json, { agent: 'fusion-acp-default-agent', prompt: 'two words', words: 2 });
}));

for (const verdict of ['pass', 'fail', 'blocked']) {
  test(`gives the verdict ${verdict}`, withAgent(async (client) => {
    const sessionId = await client.session();
    await client.prompt(sessionId, `[plain] [verdict:${verdict}] check`);
    assert.equal(JSON.parse(client.text().split('\n').at(-1) ?? '').verdict, verdict);
  }));
}

for (const [word, stopReason] of [['refuse', 'refusal'], ['max_tokens', 'max_tokens'], ['max_turn_requests', 'max_turn_requests']]) {
  test(`[${word}] ends with ${stopReason}`, withAgent(async (client) => {
    const sessionId = await client.session();
    assert.equal((await client.prompt(sessionId, `[${word}]`)).result.stopReason, stopReason);
    assert.equal((await client.prompt(sessionId, 'next')).result.stopReason, 'end_turn');
  }));
}

test('[fail] answers with an error after some text', withAgent(async (client) => {
  const sessionId = await client.session();
  const { error } = await client.prompt(sessionId, '[fail]');
  assert.equal(error.code, -32603);
  assert.deepEqual(error.data, { asked: true });
  assert.notEqual(client.text(), '');
  assert.equal((await client.prompt(sessionId, 'next')).result.stopReason, 'end_turn');
}));

test('[auth] asks for authentication', withAgent(async (client) => {
  const sessionId = await client.session();
  assert.equal((await client.prompt(sessionId, '[auth]')).error.code, -32000);
}));

test('[crash] ends the process with code 3, its last words included', withAgent(async (client) => {
  const sessionId = await client.session();
  void client.prompt(sessionId, '[crash]');
  assert.deepEqual(await client.exited, { code: 3, signal: null });
  assert.match(client.text(), /this process ends$/);
  assert.match(client.stderr, /asked to crash/);
}));

test('[flood] sends as many chunks as asked for', withAgent(async (client) => {
  const sessionId = await client.session();
  await client.prompt(sessionId, '[plain] [flood:5000]');
  const flood = client.updates('agent_message_chunk').filter(({ content }) => content.text.startsWith('All work'));
  assert.equal(flood.length, 5000);
}));

test('runs one turn of a session at a time, and turns of two sessions side by side', withAgent(async (client) => {
  const first = await client.session();
  const second = (await client.request('session/new', { cwd: process.cwd(), mcpServers: [] })).result.sessionId;
  const hanging = client.prompt(first, '[hang]');
  assert.equal((await client.prompt(first, 'hello')).error.code, -32600);
  assert.equal((await client.prompt(second, 'hello')).result.stopReason, 'end_turn');
  client.notify('session/cancel', { sessionId: first });
  assert.equal((await hanging).result.stopReason, 'cancelled');
}));

test('refuses a prompt that is not a list of content blocks', withAgent(async (client) => {
  const sessionId = await client.session();
  for (const prompt of [undefined, 'text', [], [null], [{ text: 'no type' }], [{ type: 'video' }]]) {
    const { error } = await client.request('session/prompt', { sessionId, prompt });
    assert.equal(error?.code, -32602, JSON.stringify(prompt));
  }
  assert.equal((await client.prompt(sessionId, 'hello')).result.stopReason, 'end_turn');
}));
