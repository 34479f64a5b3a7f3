'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { normalizeToolArgs, toolDisplayName } = require('../..');

describe('toolDisplayName', () => {
  it('prefers the title, trimmed', () => {
    assert.equal(toolDisplayName({ title: '  Run tests ', kind: 'execute' }), 'Run tests');
  });

  it('falls back to the label of the kind', () => {
    const labels = {
      read: 'Read', edit: 'Edit', delete: 'Delete', move: 'Move', search: 'Search', execute: 'Execute', think: 'Think',
      fetch: 'Fetch', switch_mode: 'Switch Mode', other: 'Tool',
    };
    for (const [kind, label] of Object.entries(labels)) assert.equal(toolDisplayName({ title: ' ', kind }), label);
  });

  it('falls back to tool, also for names that every object has', () => {
    for (const kind of [undefined, null, 'mystery', 'constructor', '__proto__']) assert.equal(toolDisplayName({ kind }), 'tool');
    assert.equal(toolDisplayName({ title: null, kind: null }), 'tool');
  });
});

describe('normalizeToolArgs', () => {
  it('passes plain objects and replaces the rest', () => {
    assert.deepEqual(normalizeToolArgs({ command: 'ls' }), { command: 'ls' });
    for (const value of [undefined, null, 'x', 42, [1, 2]]) assert.deepEqual(normalizeToolArgs(value), {});
  });
});
