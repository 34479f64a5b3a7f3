// One-shot asks and the validator on top of them.

import type { AgentRuntime } from './fusion.js';

export interface AskAcpOnceOptions {
  prompt: string;
  cwd: string;
  model?: string;
  /** Default: `''`. */
  systemPrompt?: string;
  /** Milliseconds for the turn. Default: no limit. */
  timeoutMs?: number;
  /** Look for JSON in the reply; the last object becomes `parsed`. Default: `false`. */
  recoverJson?: boolean;
}

export type AskFailureReason =
  | 'create_session_failed'
  | 'turn_failed'
  | 'timeout'
  | 'abnormal_stop'
  | 'dispose_failed'
  | 'empty_reply'
  | 'sign_in_required';

export interface AskSuccess {
  ok: true;
  text: string;
  /** Absent when nothing was recovered. */
  parsed?: unknown;
  stopReason?: string;
}

export interface AskFailure {
  ok: false;
  reason: AskFailureReason;
  message: string;
  text?: string;
  stopReason?: string;
}

export type AskAcpOnceResult = AskSuccess | AskFailure;

/** Creates a session, runs one turn, disposes. Never rejects. */
export function askAcpOnce<S>(runtime: AgentRuntime<S>, options: AskAcpOnceOptions): Promise<AskAcpOnceResult>;

/** The JSON values found in prose, in their order. */
export function extractJsonObjects(output: string): unknown[];

export type VerdictStatus = 'pass' | 'fail' | 'blocked' | 'error';

export interface ValidatorAssertion {
  assertionId: string;
  passed: boolean;
  message?: string;
}

export interface ValidatorVerdict {
  status: VerdictStatus;
  assertions: ValidatorAssertion[];
  summary: string;
  blockedReason?: string;
}

/** @returns `undefined` for a word that is not a verdict */
export function normalizeVerdictToken(token: unknown): VerdictStatus | undefined;
/** Never `pass`. */
export function inferVerdictFromProse(text: string): 'fail' | 'blocked' | undefined;
export function mapParsedToVerdict(parsed: unknown, text: string): ValidatorVerdict;

export interface RunCliAgentValidationOptions {
  prompt: string;
  cwd: string;
  settings?: Record<string, unknown>;
  systemPrompt?: string;
  /** Milliseconds. Default: no limit. */
  timeoutMs?: number;
}

/** Asks, and maps the reply to a verdict. Never rejects. */
export function runCliAgentValidation<S>(
  runtime: AgentRuntime<S>, options: RunCliAgentValidationOptions,
): Promise<ValidatorVerdict>;

export {};
