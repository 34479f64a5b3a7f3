// Questions of the agent for a person: forms, and addresses to open.

import type { CreateElicitationRequest, CreateElicitationResponse } from '../protocol.js';
import type { HostAbortSignal } from './host.js';

/** One thing that is wrong with the values for a form. */
export interface ElicitationProblem {
  /** The property; empty for the content as a whole. */
  property: string;
  /** What is wrong, for people. Never has the value. */
  message: string;
}

interface ElicitationRequestBase {
  /** Fires when the agent no longer waits for the answer. */
  readonly signal: HostAbortSignal;
}

/**
 * A question, its texts sanitised and bounded. Show who asks: the agent, not this program.
 *
 * - `mode: 'form'`: values for a flat form. What is accepted is checked against it before it goes out; values that do not
 *   fit are sent as `cancel`, with a warning. `validate` tells beforehand.
 * - `mode: 'url'`: consent to open an address, http or https, without a user in it. Nothing opens it but the host. Show all
 *   of it, and its `host`. `accept` means that the person agreed, not that they are done.
 */
export type ElicitationRequest = Extract<CreateElicitationRequest, { mode: 'form' }> & ElicitationRequestBase & {
  /** What is wrong with these values; empty, if they may be sent. */
  validate(content: unknown): ElicitationProblem[];
} | Extract<CreateElicitationRequest, { mode: 'url' }> & ElicitationRequestBase & {
  /** Host and port of `url` as a browser reads them, international names in their ASCII form. */
  readonly host: string;
};

/** What the person decided. */
export type ElicitationAnswer = CreateElicitationResponse;

export {};
