import type {
  AgentRequests, AuthMethod, ClientRequests, ContentBlock, CreateElicitationRequest, McpServer, NewSessionRequest,
  PermissionOption, RequestPermissionOutcome, SessionConfigOption, StateUpdate, StopReason, ToolCallUpdate,
} from 'fusion-acp-runtime';
import type { Expect, Same } from './expect.js';

// Required, optional and nullable are three things.
export const session: NewSessionRequest = { cwd: '/work', mcpServers: [] };
export const withMeta: NewSessionRequest = { cwd: '/work', mcpServers: [], _meta: { traceparent: '00-1-1-01' } };
export const nullMeta: NewSessionRequest = { cwd: '/work', mcpServers: [], _meta: null };
// @ts-expect-error `mcpServers` is required
export const noServers: NewSessionRequest = { cwd: '/work' };
// @ts-expect-error `mcpServers` is not nullable
export const nullServers: NewSessionRequest = { cwd: '/work', mcpServers: null };
export const patch: ToolCallUpdate = { toolCallId: 'a', title: null, rawOutput: { any: 1 } };
// @ts-expect-error unknown members are refused in literals
export const extra: ToolCallUpdate = { toolCallId: 'a', tittle: 'x' };

// Closed and open enumerations.
export type Stop = Expect<Same<StopReason, 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled'>>;
// @ts-expect-error closed
export const option: PermissionOption = { optionId: 'a', name: 'A', kind: 'allow_session' };
export const category: SessionConfigOption['category'] = 'a category of tomorrow';

// Discriminated unions narrow.
export function block(content: ContentBlock): string {
  switch (content.type) {
    case 'text': return content.text;
    case 'image':
    case 'audio': return content.data + content.mimeType;
    case 'resource_link': return content.uri;
    case 'resource': return 'text' in content.resource ? content.resource.text : content.resource.blob;
  }
}

// Untagged alternatives narrow as well.
export function server(mcp: McpServer): string {
  if (mcp.type === 'http' || mcp.type === 'sse') return mcp.url;
  if (mcp.type === 'acp') return mcp.serverId;
  const command: string = mcp.command;
  return command;
}
export const servers: McpServer[] = [
  { name: 'a', command: 'node', args: [], env: [{ name: 'A', value: '1' }] },
  { type: 'http', name: 'b', url: 'http://127.0.0.1', headers: [] },
  // @ts-expect-error no such transport
  { type: 'websocket', name: 'c', url: 'ws://127.0.0.1', headers: [] },
];

export function method(auth: AuthMethod): string | undefined {
  return auth.type === 'terminal' ? auth.args?.join(' ') : auth.id;
}

export function config(item: SessionConfigOption): string | boolean {
  const name: string = item.name;
  return item.type === 'boolean' ? item.currentValue : item.currentValue + name;
}

// Open unions: the known members narrow, the rest stays reachable.
export function state(update: StateUpdate): unknown {
  if (update.state === 'idle') return update.stopReason;
  if (update.state === 'running') return 1;
  const name: string = update.state;
  return name;
}

export function elicitation(request: CreateElicitationRequest): string {
  if (request.mode === 'url') return request.url + request.message;
  if (request.mode === 'form') return JSON.stringify(request.requestedSchema.properties);
  return request.mode;
}

export const outcomes: RequestPermissionOutcome[] = [
  { outcome: 'cancelled' },
  { outcome: 'selected', optionId: 'once' },
  // @ts-expect-error a selection names its option
  { outcome: 'selected' },
];

// Methods map to their payloads.
export type Prompt = Expect<Same<AgentRequests['session/prompt']['result']['stopReason'], StopReason>>;
export type Read = Expect<Same<ClientRequests['fs/read_text_file']['result']['content'], string>>;
// @ts-expect-error the client handles this one
export type Wrong = AgentRequests['fs/read_text_file'];
