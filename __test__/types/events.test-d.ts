import type { ContentBlock, SessionEvent, SessionUpdate, ToolCallStatus } from 'fusion-acp-runtime';
import type { Expect, Same } from './expect.js';

/** Every update tag of the protocol is an event; there is one more for child sessions, and one for the rest. */
export type Tags = Expect<Same<SessionEvent['type'], SessionUpdate['sessionUpdate'] | 'child_session_event' | 'unknown'>>;

export type Common = Expect<Same<SessionEvent['sessionId'], string>>;
export type Replay = Expect<Same<NonNullable<SessionEvent['replay']>, true>>;

export function narrow(event: SessionEvent): string | undefined {
  if (event.late) return 'late';
  switch (event.type) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk': {
      const block: ContentBlock = event.content;
      return block.type === 'text' ? block.text : undefined;
    }
    case 'tool_call':
      // @ts-expect-error a tool call has no content of a message
      event.content?.text;
      return event.title;
    case 'tool_call_update': {
      const status: ToolCallStatus | null | undefined = event.status;
      return status ?? undefined;
    }
    case 'plan':
      return event.entries.map((entry) => entry.content).join();
    case 'usage_update':
      return event.cost?.currency;
    case 'subagent_update': {
      const [owner, child]: [string, string] = [event.sessionId, event.childSessionId];
      return owner + child;
    }
    case 'session_info_update': {
      const title: string | null | undefined = event.title;
      return title ?? undefined;
    }
    case 'child_session_event':
      // @ts-expect-error what a child says is inside
      event.content;
      return event.event.type === 'tool_call' ? event.event.title : event.childSessionId;
    case 'unknown': {
      const raw: unknown = event.raw;
      return typeof raw;
    }
    default:
      // @ts-expect-error only the unknown event has the raw update
      event.raw;
      return event.sessionId;
  }
}

/** A switch over every tag leaves nothing. */
export function exhaustive(event: SessionEvent): true {
  switch (event.type) {
    case 'user_message_chunk':
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'tool_call':
    case 'tool_call_update':
    case 'plan':
    case 'plan_update':
    case 'plan_removed':
    case 'available_commands_update':
    case 'current_mode_update':
    case 'config_option_update':
    case 'session_info_update':
    case 'usage_update':
    case 'notice':
    case 'compaction_update':
    case 'compaction_summary_chunk':
    case 'subagent_update':
    case 'session_message':
    case 'session_message_chunk':
    case 'prompt_suggestions_update':
    case 'cursor_update':
    case 'child_session_event':
    case 'unknown':
      return true;
    default: {
      const rest: never = event;
      return rest;
    }
  }
}

// @ts-expect-error not a tag of the protocol
export const tag: SessionEvent['type'] = 'state_update';
