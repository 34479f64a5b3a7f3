'use strict';

// Terminal control in anything that a host may show: titles, plans, names, contents. Data for programs stays as it is.

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { AcpClient } = require('../..');
const { clean } = require('../../lib/clean.js');
const { script } = require('../support/fake-agent.js');

const controls = [...Array(0x20).keys(), 0x7f, ...Array.from({ length: 0x20 }, (_, i) => 0x80 + i)]
  .filter((code) => code !== 0x09 && code !== 0x0a)
  .map((code) => String.fromCharCode(code));

test('every control character goes', () => {
  for (const control of controls) {
    const code = control.charCodeAt(0).toString(16).padStart(4, '0');
    const { title } = clean({ title: `a${control}b` });
    assert.ok(!title.includes(control) && title.startsWith('a'), `U+${code}`);
  }
});

test('lines, tabs and every other character stay', () => {
  const text = 'a\n\tb é🚀\u00a0\u200f\ufeff "quoted" \\ud83d';
  assert.equal(clean({ text }).text, text);
});

test('what is data for programs is as the agent sent it', () => {
  const update = { title: '\u001b[31mred', rawInput: { a: '\u001b[1m' }, rawOutput: '\u0007', _meta: { x: ['\u0000'] } };
  assert.deepEqual(clean({ ...update }), { ...update, title: 'red' });
});

test('an update is cleaned in Rust as this does it', async () => {
  const dirty = '\u001b[31mred\u009d\r';
  const members = ['title', 'rawInput', 'rawOutput', '_meta', 'args', 'env', 'name', 'more', 'raw\u0007'];
  const each = (/** @type {any} */ value) => Object.fromEntries(members.map((name) => [name, value]));
  const more = { list: [dirty, [each(dirty)]], nested: each(each(dirty)) };
  const update = { sessionUpdate: 'tool_call', toolCallId: 't', ...each(dirty), more };
  const client = await AcpClient.launch({
    ...script([{ do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' }, { do: 'update', update }, { do: 'prompt_end' }]),
    cwd: process.cwd(), env: {},
  });
  try {
    const session = await client.newSession();
    const events = [];
    for await (const event of session.prompt('go')) events.push(event);
    const { sessionUpdate: type, ...shown } = clean(JSON.parse(JSON.stringify(update)));
    assert.deepEqual(events, [{ ...shown, type, sessionId: session.id }]);
    assert.deepEqual([shown.title, shown.rawInput, shown.more.nested.title.env], ['red', dirty, dirty]);
  } finally {
    await client.close();
  }
});

test('depth is no danger', () => {
  const depth = 200_000;
  let value = /** @type {any} */ ('\u001b[31mdeep');
  for (let i = 0; i < depth; i++) value = [value];
  let cleaned = clean(value);
  for (let i = 0; i < depth; i++) [cleaned] = cleaned;
  assert.equal(cleaned, 'deep');
});

test('events and answers of an agent come clean', async () => {
  const esc = '\u001b]0;owned\u0007\u001b[2J';
  const tool = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: `${esc}Read`, rawInput: { path: esc } };
  const plan = { sessionUpdate: 'plan', entries: [{ content: `${esc}step`, priority: 'low', status: 'pending' }] };
  const modes = { currentModeId: 'm', availableModes: [{ id: 'm', name: `${esc}Mode` }] };
  const launch = script([
    { do: 'initialize', result: { agentInfo: { name: `${esc}agent`, version: '1' } } },
    { do: 'session_new', result: { modes } },
    { do: 'prompt_begin' },
    { do: 'update', update: tool },
    { do: 'update', update: plan },
    { do: 'prompt_end' },
  ]);
  const client = await AcpClient.launch({ ...launch, cwd: process.cwd(), env: {} });
  try {
    assert.equal(client.agentInfo?.name, 'agent');
    const session = await client.newSession();
    assert.equal(session.modes?.availableModes[0].name, 'Mode');
    /** @type {any[]} */
    const events = [];
    for await (const event of session.prompt('go')) events.push(event);
    const [call, shown] = events;
    assert.deepEqual([call.title, call.rawInput.path], ['Read', esc]);
    assert.equal(shown.entries[0].content, 'step');
  } finally {
    await client.close();
  }
});
