'use strict';

const { version } = require('../../package.json');
const { RpcError, codes } = require('./peer');
const { SessionStore } = require('./sessions');
const { runTurn } = require('./turn');

/** The only protocol version this agent speaks. */
const PROTOCOL_VERSION = 1;

const AGENT_CAPABILITIES = Object.freeze({
  loadSession: true,
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: false, sse: false },
  sessionCapabilities: {
    list: {},
    delete: {},
    resume: {},
    close: {},
    fork: {},
    additionalDirectories: {},
    systemPrompt: {},
  },
});

const AUTH_METHOD = Object.freeze({
  id: 'demo-login',
  name: 'Demo login',
  description: 'Always succeeds; it is there to show how authentication goes.',
});

/**
 * The agent's side of the protocol: one function for each method of the client.
 *
 * @param {import('./peer').Peer} peer
 * @param {{ requireAuth?: boolean }} [options] `requireAuth`: sessions are refused until `authenticate` was called.
 */
function createAgent(peer, options = {}) {
  const store = new SessionStore();
  const requireAuth = options.requireAuth === true;
  let authenticated = !requireAuth;
  /** @type {any} What the client said it can do; null before `initialize`. */
  let client = null;

  /** @param {any} session */
  const announce = (session) => {
    const update = { sessionUpdate: 'available_commands_update', availableCommands: session.commands() };
    peer.notify('session/update', { sessionId: session.id, update });
  };

  /** @type {Record<string, (params: any, signal: AbortSignal) => unknown>} */
  const methods = {
    initialize(params) {
      if (!Number.isInteger(params.protocolVersion)) {
        throw new RpcError(codes.invalidParams, 'protocolVersion is an integer.');
      }
      client = params.clientCapabilities ?? {};
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentCapabilities: { ...AGENT_CAPABILITIES, auth: requireAuth ? { logout: {} } : {} },
        authMethods: requireAuth ? [AUTH_METHOD] : [],
        agentInfo: { name: 'fusion-acp-default-agent', title: 'Built-in demo agent', version },
      };
    },
    authenticate(params) {
      if (!requireAuth || params.methodId !== AUTH_METHOD.id) {
        throw new RpcError(codes.invalidParams, 'No authentication method has this id.');
      }
      authenticated = true;
      return {};
    },
    logout() {
      if (!requireAuth) throw new RpcError(codes.methodNotFound, 'logout is not available.');
      authenticated = false;
      return {};
    },
    'session/new'(params) {
      const session = store.create(params, client);
      setImmediate(announce, session);
      return { sessionId: session.id, ...session.state() };
    },
    'session/load'(params) {
      const session = store.open(params, client);
      for (const update of session.history) peer.notify('session/update', { sessionId: session.id, update });
      setImmediate(announce, session);
      return session.state();
    },
    'session/resume'(params) {
      const session = store.open(params, client, params.mcpServers ?? []);
      setImmediate(announce, session);
      return session.state();
    },
    'session/fork'(params) {
      const session = store.fork(params, client);
      setImmediate(announce, session);
      return { sessionId: session.id, ...session.state() };
    },
    'session/list': (params) => store.list(params),
    'session/delete'(params) {
      store.delete(params.sessionId);
      return {};
    },
    'session/close'(params) {
      store.live(params.sessionId).close();
      return {};
    },
    'session/set_mode'(params) {
      const session = store.live(params.sessionId);
      session.setMode(params.modeId);
      const update = { sessionUpdate: 'current_mode_update', currentModeId: session.modeId };
      peer.notify('session/update', { sessionId: session.id, update });
      return {};
    },
    'session/set_config_option'(params) {
      const session = store.live(params.sessionId);
      session.setConfigOption(params.configId, params.value);
      return { configOptions: session.configOptions() };
    },
    'session/prompt': (params, signal) => runTurn(peer, store.live(params.sessionId), params.prompt, client, signal),
  };

  return {
    /**
     * @param {string} method
     * @param {any} params
     * @param {AbortSignal} signal
     */
    request(method, params, signal) {
      const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!handler) throw new RpcError(codes.methodNotFound, `The method ${method} does not exist.`, { method });
      if (client === null && method !== 'initialize') {
        throw new RpcError(codes.invalidRequest, 'The first request is initialize.');
      }
      if (!authenticated && method.startsWith('session/')) {
        throw new RpcError(codes.authRequired, 'Authentication required.');
      }
      return handler(params, signal);
    },
    /**
     * @param {string} method
     * @param {any} params
     */
    notification(method, params) {
      if (method === 'session/cancel') store.find(params?.sessionId)?.cancel();
    },
    /** Ends every turn. */
    shutdown() {
      store.cancelAll();
    },
  };
}

module.exports = { createAgent, PROTOCOL_VERSION };
