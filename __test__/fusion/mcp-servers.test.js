'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { toAcpMcpServers } = require('../..');
const { supportedMcpServers } = require('../../lib/fusion/mcp-servers.js');

describe('toAcpMcpServers', () => {
  it('turns the engine’s records into pairs', () => {
    assert.deepEqual(toAcpMcpServers([
      { name: 'a', transport: 'stdio', command: 'node', args: ['x'], env: { K: 'v' } },
      { name: 'b', transport: 'streamable-http', url: 'https://b', headers: { H: 'v' } },
      { name: 'c', transport: 'sse', url: 'https://c' },
      { name: 'd', transport: 'http', url: 'https://d', headers: {} },
    ]), [
      { name: 'a', command: 'node', args: ['x'], env: [{ name: 'K', value: 'v' }] },
      { type: 'http', name: 'b', url: 'https://b', headers: [{ name: 'H', value: 'v' }] },
      { type: 'sse', name: 'c', url: 'https://c', headers: [] },
      { type: 'http', name: 'd', url: 'https://d', headers: [] },
    ]);
  });

  it('leaves the protocol’s own shape as it is', () => {
    const servers = [
      { name: 'a', command: 'node', args: ['x'], env: [{ name: 'K', value: 'v' }] },
      { type: 'http', name: 'b', url: 'https://b', headers: [{ name: 'H', value: 'v' }] },
    ];
    assert.deepEqual(toAcpMcpServers(servers), servers);
  });

  it('completes what is left out', () => {
    assert.deepEqual(toAcpMcpServers([{ name: 'a', command: 'x' }]), [{ name: 'a', command: 'x', args: [], env: [] }]);
    assert.deepEqual(toAcpMcpServers([{ name: 'a', url: 'https://x' }]), [{ type: 'http', name: 'a', url: 'https://x', headers: [] }]);
  });

  it('drops the disabled and the incomplete', () => {
    const servers = [
      { name: 'a', command: 'x', enabled: false }, { command: 'x' }, { name: 'b' }, { name: 'c', transport: 'sse' },
      { name: 'd', transport: 'carrier-pigeon', command: 'x' }, null, 7, 'x',
    ];
    assert.deepEqual(toAcpMcpServers(servers), []);
    for (const value of [undefined, null, {}, 'x']) assert.deepEqual(toAcpMcpServers(value), []);
  });
});

describe('supportedMcpServers', () => {
  it('keeps the transports that the agent takes; stdio always', () => {
    const servers = toAcpMcpServers([{ name: 's', command: 'x' }, { name: 'h', url: 'u' }, { name: 'e', transport: 'sse', url: 'u' }]);
    const names = (/** @type {any} */ mcpCapabilities) => {
      const { taken, refused } = supportedMcpServers(servers, mcpCapabilities && { mcpCapabilities });
      return [taken.map((server) => server.name), refused];
    };
    assert.deepEqual(names({ http: true, sse: true }), [['s', 'h', 'e'], []]);
    assert.deepEqual(names({ http: true }), [['s', 'h'], ['e']]);
    assert.deepEqual(names(undefined), [['s'], ['h', 'e']]);
  });
});
