'use strict';

/** MCP servers: from every shape that engines use to the protocol's, and to what an agent takes. */

const { isObject } = require('./tool-mapping.js');
const { text } = require('./cli-settings.js');

/**
 * @typedef {import('../../types/fusion').AcpMcpServer} AcpMcpServer
 * @typedef {import('../../types/fusion').AcpNameValue} AcpNameValue
 */

/**
 * Names and values: pairs as they are, a record entry by entry. What is not text is left out.
 *
 * @param {unknown} value
 * @returns {AcpNameValue[]}
 */
function pairs(value) {
  const items = Array.isArray(value)
    ? value.filter(isObject)
    : Object.entries(isObject(value) ? value : {}).map(([name, entry]) => ({ name, value: entry }));
  return items
    .filter((item) => typeof item.name === 'string' && item.name !== '' && typeof item.value === 'string')
    .map((item) => ({ name: item.name, value: item.value }));
}

/**
 * @param {unknown} server
 * @returns {AcpMcpServer | undefined}
 */
function toAcpMcpServer(server) {
  if (!isObject(server) || server.enabled === false) return undefined;
  const name = text(server.name);
  if (name === undefined) return undefined;
  const transport = text(server.type) ?? text(server.transport) ?? (text(server.url) === undefined ? 'stdio' : 'http');
  switch (transport.toLowerCase()) {
    case 'stdio': {
      const command = text(server.command);
      if (command === undefined) return undefined;
      const args = Array.isArray(server.args) ? server.args.filter((arg) => typeof arg === 'string') : [];
      return { name, command, args, env: pairs(server.env) };
    }
    case 'http':
    case 'streamable-http': {
      const url = text(server.url);
      return url === undefined ? undefined : { type: 'http', name, url, headers: pairs(server.headers) };
    }
    case 'sse': {
      const url = text(server.url);
      return url === undefined ? undefined : { type: 'sse', name, url, headers: pairs(server.headers) };
    }
    default:
      return undefined;
  }
}

/**
 * @param {unknown} servers
 * @returns {AcpMcpServer[]}
 */
function toAcpMcpServers(servers) {
  return Array.isArray(servers) ? servers.flatMap((server) => toAcpMcpServer(server) ?? []) : [];
}

/**
 * The servers that an agent with these capabilities takes, and the names of the others.
 *
 * @param {AcpMcpServer[]} servers
 * @param {{ mcpCapabilities?: { http?: boolean, sse?: boolean } } | null | undefined} capabilities
 * @returns {{ taken: AcpMcpServer[], refused: string[] }}
 */
function supportedMcpServers(servers, capabilities) {
  const can = capabilities?.mcpCapabilities;
  /** @param {AcpMcpServer} server */
  const takes = (server) => !('type' in server) || (server.type === 'http' ? can?.http : can?.sse) === true;
  return {
    taken: servers.filter(takes),
    refused: servers.filter((server) => !takes(server)).map((server) => server.name),
  };
}

module.exports = { toAcpMcpServers, supportedMcpServers };
