// What a session has become so far: everything it said, merged, as `session.state` shows it.

import type {
  AvailableCommand, ContentBlock, CursorAnchor, CursorCapabilities, CursorId, Meta, PlanEntry, PromptSuggestion,
  SessionConfigOption, SessionId, SessionMode, StateUpdate, SubagentSessionCapabilities, ToolCallContent, ToolCallLocation,
  ToolKind,
} from '../protocol.js';

/** Counts of tokens. A count that the agent did not say is absent, which is not zero. */
export interface TokenCounts {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedReadTokens?: number;
  readonly cachedWriteTokens?: number;
  readonly thoughtTokens?: number;
}

/** How full the model's context is, in tokens. */
export interface ContextUsage {
  readonly used?: number;
  readonly size?: number;
}

/** What the session has cost so far. */
export interface SessionCost {
  readonly amount: number;
  /** As the agent names it; ISO 4217 by the protocol. */
  readonly currency: string;
}

/** What a turn used, as far as the agent said. */
export interface TurnUsage extends TokenCounts {
  /**
   * Where the counts were said: `usage` of the prompt's result (`prompt_result`), its `_meta.quota`, `_meta.field_meta` or
   * `_meta.usage`; or nowhere, and only `usage_update` came in the turn (`usage_update`, without counts).
   */
  readonly source: 'prompt_result' | 'meta_quota' | 'meta_field_meta' | 'meta_usage' | 'usage_update';
  /**
   * What the counts cover: the turn or a part of it, the session so far, or `unknown`. By its schema the protocol's own
   * `usage` is the session's sum, but many agents put the turn's into it. It stays `unknown` until an agent shows that
   * its counts are no sums, by a count lower than in an earlier turn of the session.
   */
  readonly scope: 'turn' | 'session' | 'unknown';
  /** From the last `usage_update` of the turn. */
  readonly context?: ContextUsage;
  /** From the last `usage_update` of the turn; always the session's, whatever `scope` says of the counts. */
  readonly cost?: SessionCost;
}

/** A message. Chunks of one id are one message; without ids it ends where something else begins. */
export interface MessageState {
  /** Place among messages, tool calls and compactions: they share one count, in the order of their beginning. */
  readonly order: number;
  /** Who speaks. `session` is a message between two sessions. The host's own prompts are here only if the agent repeats them. */
  readonly role: 'agent' | 'thought' | 'user' | 'session';
  readonly messageId?: string;
  /** The tool call in which it was said, where the agent tells (a subagent's words in its parent's session). */
  readonly parentToolCallId?: string;
  /** Adjacent text is one block. At most 1,024 blocks and 4 MiB. */
  readonly content: readonly ContentBlock[];
  /** Whether something was left out at its end, for its size. */
  readonly truncated: boolean;
  /** Present on history that the agent repeated while the session was reopened. */
  readonly replay?: true;
  /** Of a message between sessions. */
  readonly senderSessionId?: SessionId;
  readonly recipientSessionId?: SessionId;
  readonly senderMessageId?: string;
  readonly recipientMessageId?: string;
}

/** A tool call: its announcement and all its updates, merged. */
export interface ToolCallState {
  /** Place among messages, tool calls and compactions. */
  readonly order: number;
  readonly toolCallId: string;
  /** A call that has ended stays ended. `cancelled`: by the agent's word, or by `cancelledLocally`. */
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled';
  /** The agent never said how it ended: its turn was cancelled or ended, or the agent or the session is gone. */
  readonly cancelledLocally?: true;
  readonly title?: string;
  readonly name?: string;
  readonly kind?: ToolKind | (string & {});
  readonly content?: readonly ToolCallContent[];
  readonly locations?: readonly ToolCallLocation[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly _meta?: Meta;
  /** The tool call that this one is a part of, where the agent tells. */
  readonly parentToolCallId?: string;
  /** Whether a value was larger than 256 KiB and left out, so that an earlier one, or none, stands in its place. */
  readonly incomplete: boolean;
  /** Present on history that the agent repeated while the session was reopened. */
  readonly replay?: true;
}

/** A plan. */
export interface PlanState {
  /** Absent: the plan of agents that have but one. */
  readonly planId?: string;
  readonly type: 'items' | 'markdown' | (string & {});
  /** Of `items`; at most 1,000. */
  readonly entries?: readonly PlanEntry[];
  /** Of `markdown`. */
  readonly content?: string;
  readonly path?: string;
}

/** A compaction of the session's context. */
export interface CompactionState {
  /** Place among messages, tool calls and compactions. */
  readonly order: number;
  readonly compactionId: string;
  readonly status: 'in_progress' | 'completed' | 'failed' | 'cancelled' | (string & {});
  readonly error?: unknown;
  readonly summary: readonly ContentBlock[];
}

/** A place in the conversation that the agent names. Unstable. */
export interface CursorState {
  readonly cursorId: CursorId;
  /** Where it is; never changes. */
  readonly anchor: CursorAnchor;
  /** What may be done there now: `fork` is for `forkSession`. Absent: nothing. */
  readonly capabilities?: CursorCapabilities;
}

/** A child session that the agent exposes. */
export interface SubagentState {
  readonly sessionId: SessionId;
  /** The child that announced it, where it was not the session itself. */
  readonly parentSessionId?: SessionId;
  readonly title?: string;
  readonly description?: string;
  readonly capabilities?: SubagentSessionCapabilities;
  /** What it does now. Absent: not confirmed. */
  readonly state?: StateUpdate;
  readonly cwd?: string;
  readonly additionalDirectories?: readonly string[];
  /** What it said. Its `subagents` is empty: children of children are listed beside it. */
  readonly session: SessionState;
}

/** What was left out for the sake of the limits, counted since the session began. */
export interface DroppedState {
  readonly messages: number;
  /** Bytes left out of messages that are still there. */
  readonly messageBytes: number;
  readonly toolCalls: number;
  readonly plans: number;
  readonly compactions: number;
  /** Child sessions, and contents of child sessions that are still there. */
  readonly subagents: number;
  /** Single values, and entries of lists. */
  readonly values: number;
}

/**
 * Everything that a session said, merged. A frozen snapshot: JSON, every string without terminal control.
 *
 * It is of what was received, which may be ahead of the events that a consumer has taken; after a turn it has all of
 * the turn. At most about 48 MiB a session: 4,096 messages or 16 MiB of them, 1,000 tool calls or 8 MiB, 16 plans, 16
 * compactions, 64 child sessions or 8 MiB, and 256 KiB of any other value. The oldest goes first, of tool calls the
 * finished one touched longest ago, and `dropped` counts it.
 */
export interface SessionState {
  /** Changes with every change. */
  readonly version: number;
  readonly messages: readonly MessageState[];
  readonly toolCalls: readonly ToolCallState[];
  /** The one changed last at the end. */
  readonly plans: readonly PlanState[];
  readonly compactions: readonly CompactionState[];
  /** In the order of their announcement; at most 1,000, and 256 KiB of them. */
  readonly cursors: readonly CursorState[];
  readonly availableCommands?: readonly AvailableCommand[];
  readonly availableModes?: readonly SessionMode[];
  readonly currentModeId?: string;
  readonly configOptions?: readonly SessionConfigOption[];
  /** What the agent expects to be asked next, the likeliest first; each can be sent as a prompt. Unstable. */
  readonly promptSuggestions?: readonly PromptSuggestion[];
  readonly title?: string;
  /** As the agent wrote it; ISO 8601 by the protocol. */
  readonly updatedAt?: string;
  /** From the last `usage_update`, in a turn or not. */
  readonly context?: ContextUsage;
  /** From the last `usage_update` that named one. */
  readonly cost?: SessionCost;
  /** Of the last turn that ended. */
  readonly usage?: TurnUsage;
  readonly subagents: readonly SubagentState[];
  readonly dropped: DroppedState;
}

export {};
