// Parts of the protocol that may still change. They need `unstable: true` at launch, and an agent that advertises them.

import type { AuthStatusResponse, SessionConfigOption, SessionModeState, SetProviderRequest } from '../protocol.js';
import type { CallOptions } from './client.js';

/** A model provider's settings. Header values are masked in everything that this package shows. */
export type ProviderSettings = Omit<SetProviderRequest, '_meta'>;

/** Whether somebody is signed in. The accounts are for display. */
export interface AuthStatus extends AuthStatusResponse {
  /** A state that this version does not know is reported as `unknown`. */
  state: 'authenticated' | 'unauthenticated' | 'not_required' | 'unknown';
  accounts: NonNullable<AuthStatusResponse['accounts']>;
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
