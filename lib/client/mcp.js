'use strict';

/**
 * MCP servers that the host serves over the connection: objects with a `handle` function instead of an address.
 *
 * @typedef {import('../../types/unstable').HostMcpServer} HostMcpServer
 * @typedef {{ serverId: string, requestId: string, method: string, params?: any }} Message
 */

const { randomUUID } = require('node:crypto');

const { invalid, string } = require('../native/options.js');

class McpServers {
  /** @type {Map<string, { owner: object, server: HostMcpServer }>} */
  #servers = new Map();
  /** @type {import('../native/client').Client | undefined} */
  #native;

  /** @param {import('../native/client').Client} native */
  attach(native) {
    this.#native = native;
  }

  /**
   * The servers as they go to the agent. Each that the host serves gets an id, for as long as its owner lives.
   *
   * @param {any} servers
   * @param {object} owner
   * @returns {any[]}
   */
  declare(servers, owner) {
    if (!Array.isArray(servers)) throw invalid('mcpServers must be a list');
    for (const server of servers) {
      if (server?.type === 'acp' && typeof server.handle !== 'function') {
        throw invalid('an MCP server of type acp needs a handle function');
      }
    }
    return servers.map((server) => {
      if (server?.type !== 'acp') return server;
      const serverId = randomUUID();
      this.#servers.set(serverId, { owner, server });
      const { name, _meta } = server;
      return { type: 'acp', name, serverId, ...(_meta !== undefined && { _meta }) };
    });
  }

  /** @param {object} owner */
  release(owner) {
    for (const [serverId, entry] of this.#servers) if (entry.owner === owner) this.#servers.delete(serverId);
  }

  /**
   * Answers one request. Not known: `undefined`.
   *
   * @param {Message} message
   * @param {AbortSignal} signal
   * @returns {Promise<unknown>}
   */
  async answer({ serverId, requestId, method, params }, signal) {
    const server = this.#servers.get(serverId)?.server;
    if (server === undefined) return undefined;
    let open = true;
    const notify = (/** @type {string} */ name, /** @type {any} */ about) => {
      string(name, 'method');
      if (about !== undefined && (about === null || typeof about !== 'object' || Array.isArray(about))) {
        throw invalid('the params of a notification are an object');
      }
      if (open && !signal.aborted) this.#native?.notifyMcp(serverId, requestId, name, about);
    };
    try {
      return await server.handle({ method, ...(params && { params }), signal, notify });
    } finally {
      open = false;
    }
  }
}

module.exports = { McpServers };
