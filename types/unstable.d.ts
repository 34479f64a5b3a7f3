// Parts of the protocol that may still change. They need `unstable: true` at launch, and an agent that advertises them.

import type { AuthStatusResponse, Meta, SessionConfigOption, SessionModeState, SetProviderRequest } from '../protocol.js';
import type { CallOptions } from './client.js';
import type { HostAbortSignal } from './host.js';

/** A model provider's settings. Header values are masked in everything that this package shows. */
export type ProviderSettings = Omit<SetProviderRequest, '_meta'>;

/** Whether somebody is signed in. The accounts are for display. */
export interface AuthStatus extends AuthStatusResponse {
  /** A state that this version does not know is reported as `unknown`. */
  state: 'authenticated' | 'unauthenticated' | 'not_required' | 'unknown';
  accounts: NonNullable<AuthStatusResponse['accounts']>;
}

/** A request of the agent to an MCP server that the host serves. */
export interface HostMcpMessage {
  /** A method of MCP (`tools/list`, `tools/call`); at most 1 KiB. */
  readonly method: string;
  /** As the agent sent it, unchecked. */
  readonly params?: { readonly [key: string]: unknown };
  /** Fires when the agent no longer waits, or the session ends. */
  readonly signal: HostAbortSignal;
  /** Tells the agent something about this request (`notifications/progress`). Without effect once it is answered. */
  notify(method: string, params?: { [key: string]: unknown }): void;
}

/**
 * An MCP server that the host serves itself, over the agent's connection: no process, no port. Needs `unstable`, and an agent
 * that advertises `mcpCapabilities.acp`. It lives as long as the session that it is given to.
 */
export interface HostMcpServer {
  type: 'acp';
  name: string;
  /**
   * Answers a request with the result of MCP. Returning `undefined`: method not found (−32601). What it throws is the error of
   * MCP: `code`, where it is a whole number, otherwise −32603; `message`; and `data`. Requests come as the agent sends them, also
   * before the session is open, and do not wait for each other.
   */
  handle(message: HostMcpMessage): unknown;
  _meta?: Meta;
}

/** Where to look for modes and configuration options before a session is opened. */
export interface SessionOptionsQuery extends CallOptions {
  /** Absolute path. Default: the client's `cwd`. */
  cwd?: string;
  /** Absolute paths. Default: absent. */
  additionalDirectories?: string[];
  /** A saved session; needs `loadSession` or `resume`. Default: a new one is meant. */
  sessionId?: string;
}

/** What a session would have. */
export interface SessionOptionsResult {
  modes?: SessionModeState;
  configOptions?: SessionConfigOption[];
}

export {};
