import type { AcpSession, LaunchOptions, PromptResult, SessionState, ToolCallState, TurnUsage } from 'fusion-acp-runtime';
import type { Expect, Same } from './expect.js';

export const off: LaunchOptions = { command: 'agent', cwd: '/', state: false };

export type Status = Expect<
  Same<ToolCallState['status'], 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled'>
>;
export type Usage = Expect<Same<PromptResult['usage'], TurnUsage | undefined>>;

export function read(session: AcpSession): string[] {
  const { state } = session;
  // @ts-expect-error it may be off
  void state.messages;
  if (state === undefined) return [];
  // @ts-expect-error a snapshot does not change
  state.messages = [];
  // @ts-expect-error nor does anything in it
  state.messages.push();
  const texts = state.messages.flatMap((message) => message.content.map((block) => (block.type === 'text' ? block.text : '')));
  const first: SessionState | undefined = state.subagents[0]?.session;
  const numbers: number[] = [state.version, state.dropped.toolCalls, state.context?.used ?? 0];
  return [...texts, state.toolCalls[0]?.title ?? '', first?.title ?? '', state.cost?.currency ?? '', String(numbers)];
}

export function tokens(usage: TurnUsage): number | undefined {
  // @ts-expect-error a count may be absent
  const certain: number = usage.inputTokens;
  void certain;
  return usage.scope === 'turn' && usage.source === 'prompt_result' ? usage.totalTokens : undefined;
}
