// The typed API for any host.

import type {
  AgentCapabilities, AgentRequests, AuthMethod, CompleteElicitationNotification, CreateTerminalRequest, Implementation,
  McpServer, Meta, PermissionOptionKind, PromptRequest, ProviderInfo, RequestPermissionOutcome, RequestPermissionRequest,
  SessionConfigOption, SessionEvent, SessionInfo, SessionModeState, SessionStatus, StopReason, SystemPrompt, ToolCallUpdate,
} from '../protocol.js';
import type { ElicitationAnswer, ElicitationRequest } from './elicitation.js';
import type { ExitFacts } from './errors.js';
import type { AbortSignalLike, AsyncDisposeMember, HostAbortSignal, HostReadableStream } from './host.js';
import type { SessionState, TurnUsage } from './state.js';
import type { AuthStatus, HostMcpServer, ProviderSettings, SessionOptionsQuery, SessionOptionsResult } from './unstable.js';

/** How an agent ended. */
export interface ExitInfo extends ExitFacts {
  /** Process ids that the operating system refused to end. Absent when there are none, as it should be. */
  readonly survivors?: number[];
}

/** Limits of one call, and what goes along with it. */
export interface CallOptions {
  /**
   * Aborts the call: it rejects with the signal's reason, and the agent is told (`$/cancel_request`). A session that
   * opens all the same is closed again where the agent can. Default: none.
   */
  signal?: AbortSignalLike;
  /** `_meta` of the request, passed on as it is; trace context (`traceparent`, `tracestate`, `baggage`) goes here. Default: absent. */
  meta?: Meta;
  /**
   * Milliseconds until the call rejects with `timeout`; 0 means no limit. Not counted is the time in which the agent waits
   * for the host about this very call: for an answer to a form or an address that names it, or, while it reopens a session,
   * for whatever is asked in that session. Default: the client's `requestTimeoutMs`.
   */
  timeoutMs?: number;
}

/** How to authenticate right after `initialize`. */
export interface AuthenticateOptions {
  /** Use this method if the agent advertises it. Methods of type `terminal` are never used: see {@link AcpClient.loginCommand}. */
  methodId?: string;
  /** Otherwise the first of these that the agent advertises. */
  preferMethods?: string[];
  /** `_meta` of the request. Default: `{ headless: true }`. */
  meta?: Meta;
  /** Reject with `acp_auth_required` when no method matches. Default: `false`, the step is left out. */
  require?: boolean;
  /** Milliseconds for the step, as {@link CallOptions.timeoutMs}; 0 means no limit. Default: 60,000. */
  timeoutMs?: number;
}

/** An offered option. The kind is open: an unknown one is shown, and never chosen automatically. */
export interface OfferedPermissionOption {
  optionId: string;
  name: string;
  kind: PermissionOptionKind | (string & {});
}

/** A permission question, its texts sanitised and bounded. */
export interface PermissionRequest extends Pick<RequestPermissionRequest, 'sessionId'> {
  /**
   * The child session (a subagent) that asks; `sessionId` is then the session that it belongs to. A child that no open
   * session is known to own is denied without a question.
   */
  readonly childSessionId?: string;
  /** All that is known of the tool call: its announcement, its updates and the question's own part, merged. */
  readonly toolCall: ToolCallUpdate;
  /** In the agent's order, at most 100. */
  readonly options: OfferedPermissionOption[];
  /** Fires when the agent no longer waits for the answer. */
  readonly signal: HostAbortSignal;
}

/**
 * The answer to a permission question.
 *
 * - `'allow'`: the one offered `allow_once` option. None offered, or several that differ: denied.
 * - `'deny'`: the offered `reject_once` option, otherwise `cancelled`.
 * - an option id: that option, if it was offered; otherwise `cancelled`.
 * - the protocol's own outcome.
 */
export type PermissionDecision = 'allow' | 'deny' | { optionId: string } | RequestPermissionOutcome;

/** A file that the agent wants to write. */
export interface WriteRequest {
  readonly sessionId: string;
  /** Absolute, links resolved, inside the session's directory. */
  readonly path: string;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: HostAbortSignal;
}

/**
 * Serving the agent's file requests. Nothing outside of the session's `cwd` is reachable, whatever is set here: neither are its
 * `additionalDirectories`.
 */
export interface FsOptions {
  /** Default: `false`, not advertised. */
  read?: boolean;
  /** Default: `false`, not advertised. */
  write?: boolean;
  /** Largest answer to a read, in bytes. Default: 5 MiB (5,242,880). */
  readMaxBytes?: number;
  /** Largest content of a write, in bytes. Default: 5 MiB (5,242,880). */
  writeMaxBytes?: number;
  /**
   * Asked before each write; throwing, or an answer other than `true`, denies, and so does a cancel of the turn: then
   * `request.signal` aborts. Default: every write is allowed.
   */
  approveWrite?(request: WriteRequest): boolean | Promise<boolean>;
}

/** Running the agent's terminals. */
export interface TerminalOptions {
  /** Most output kept per terminal, in bytes; the agent can only ask for less. Default: 1 MiB (1,048,576). */
  outputByteLimit?: number;
  /** Most terminals that all sessions of the agent have at once. Default: 64. */
  maxTerminals?: number;
  /**
   * Asked before each command; throwing, or an answer other than `true`, denies. Control characters, and those that turn the
   * direction of text, are shown as their code (`\\u001b`); what runs has them. A cancel of the turn denies, too: then
   * `request.signal` aborts. Default: every command is allowed.
   */
  approve?(request: CreateTerminalRequest & { signal: HostAbortSignal }): boolean | Promise<boolean>;
}

/** One line on the wire, secrets masked. */
export interface WireFrame {
  /** Milliseconds since the Unix epoch. */
  time: number;
  direction: 'to_agent' | 'from_agent';
  /** The line without its end, at most 64 KiB of it. */
  frame: string;
  /** Whether the line was longer. */
  truncated: boolean;
}

/** How to start an agent. Everything that is not set denies, or is limited. */
export interface LaunchOptions {
  /** The program: a path, or a name that is looked up in the agent's `PATH` and, without one, in the host's. */
  command: string;
  /** Its arguments, passed on as they are; there is no shell. Default: `[]`. */
  args?: string[];
  /** Working directory of the process. An absolute path of an existing directory. */
  cwd: string;
  /**
   * Exactly the agent's environment, but for `FUSION_ACP_TREE`, by which its processes are found; nothing is inherited.
   * Default: `{}`.
   */
  env?: Record<string, string>;
  /** How the client introduces itself. Default: this package's name and version. */
  clientInfo?: Implementation;
  /**
   * Advertise plans by id, notices, compaction, subagents and boolean configuration options, and with `unstable` cursors and
   * prompt suggestions. Default: `true`.
   */
  richUpdates?: boolean;
  /**
   * Keep what each session said as `session.state`, at most about 48 MiB a session and usually as much as the
   * conversation is long. Default: `true`.
   */
  state?: boolean;
  /** Advertise that the host can run the launch in a terminal for a person to sign in. Default: `false`. */
  terminalAuth?: boolean;
  /** `_meta` of the advertised capabilities, for extensions. Default: absent. */
  capabilitiesMeta?: Meta;
  /**
   * Use the parts of the protocol that may still change, where the agent advertises them: providers, the status, options,
   * title and archive of sessions, `configOptions` of new ones, forks at a cursor, MCP servers of the host's own, and the
   * state of authentication. With `richUpdates` it also advertises cursors and prompt suggestions (of text and links).
   * Without it such calls reject with `unsupported_capability`, whose `extra.option` is `unstable`. Default: `false`.
   */
  unstable?: boolean;
  /** Authenticate after `initialize`. `true` takes the first advertised method that is no `terminal` one. Default: not done. */
  authenticate?: boolean | AuthenticateOptions;
  /**
   * Aborts the launch, which then rejects as soon as nothing is left of the agent; once launched it has no effect.
   * Default: none.
   */
  signal?: AbortSignalLike;
  /** Milliseconds for `initialize`; 0 is no time at all. Default: 30,000. */
  initializeTimeoutMs?: number;
  /**
   * With this set, `initializeTimeoutMs` counts from the agent's last byte on stdout or stderr, and this many
   * milliseconds are the limit of the whole. For agents that download themselves first. Default: not set.
   */
  initializeMaxMs?: number;
  /** Milliseconds for every other request but `session/prompt`, as {@link CallOptions.timeoutMs}. Default: 60,000. */
  requestTimeoutMs?: number;
  /**
   * Longest message accepted, in bytes; a longer one is skipped and counted, and so is one of more than 1,000,000 JSON values,
   * of which an empty list or object counts as two.
   * A message is parsed at once, on the host's event loop where it is shown: lower the limit where a pause of some hundred
   * milliseconds is too much. Default: 32 MiB (33,554,432).
   */
  maxMessageBytes?: number;
  /** How much of the end of stderr is kept, in bytes. Default: 64 KiB (65,536). */
  stderrBytes?: number;
  /**
   * Values to mask in errors, stderr and frames, each of at least 4 bytes. Variables of `env` with the name of a secret
   * (`…_KEY`, `…_TOKEN`, `…_PASSWORD` and the like) and 8 bytes or more are masked without being named here, and so are the
   * environment and the headers of MCP servers, and the headers of providers. Default: `[]`.
   */
  secrets?: string[];
  /**
   * Milliseconds that a cancelled turn has to end by itself; then it is ended locally as `forced` and its session
   * takes no more turns. Default: 10,000.
   */
  cancelGraceMs?: number;
  /** Milliseconds that `onPermission` has for an answer; 0 means no limit. Default: 0. */
  permissionTimeoutMs?: number;
  /** Answers permission questions. Absent, throwing or late: denied. */
  onPermission?(request: PermissionRequest): PermissionDecision | Promise<PermissionDecision>;
  /** Serve the agent's file requests. Default: neither advertised nor served. */
  fs?: FsOptions;
  /** Run the agent's terminals. Default: `false`, neither advertised nor served. */
  terminal?: boolean | TerminalOptions;
  /** Which kinds of elicitation to advertise, when `onElicitation` is set. Default: both. */
  elicitation?: { form?: boolean; url?: boolean };
  /** Answers elicitations. Absent: not advertised. Throwing, or an answer that does not fit: `cancel`. */
  onElicitation?(request: ElicitationRequest): ElicitationAnswer | Promise<ElicitationAnswer>;
  /** A URL elicitation that was accepted is completed. Told once; ids that are not known are ignored. */
  onElicitationComplete?(notification: CompleteElicitationNotification): void;
  /** Whether somebody is signed in has changed. Only with `unstable`. */
  onAuthStatus?(status: AuthStatus): void;
  /**
   * Answers requests outside the protocol. Absent, or returning `undefined`: method not found (−32601). What it throws is
   * the answer: `code`, where it is a whole number, `message`, and `data`. The signal fires when the agent no longer waits.
   */
  onExtRequest?(method: string, params: unknown, call: { readonly signal: HostAbortSignal }): unknown;
  /** Receives notifications outside the protocol. Default: they are ignored. */
  onExtNotification?(method: string, params: unknown): void;
  /** Sees every line of the wire. Costs a copy of each; for debugging. Default: off. */
  onWire?(frame: WireFrame): void;
}

/** What a new session is made of. */
export interface NewSessionOptions extends CallOptions {
  /** Absolute path. Default: the client's `cwd`. */
  cwd?: string;
  /**
   * Default: `[]`. Transports that the agent did not advertise reject with `unsupported_capability`. One of type `acp` is served
   * by the host: see {@link HostMcpServer}.
   */
  mcpServers?: Array<Exclude<McpServer, { type: 'acp' }> | HostMcpServer>;
  /**
   * Absolute paths; only where the agent advertised `additionalDirectories`. For what the agent does by itself: `fs` and
   * `terminal` stay inside `cwd`. Default: absent.
   */
  additionalDirectories?: string[];
  /** Only where the agent advertised `systemPrompt`. A string appends. Default: absent. */
  systemPrompt?: string | SystemPrompt;
  /** Values of configuration options to start with, by id. Needs `unstable` and `sessionCapabilities.options`. Default: absent. */
  configOptions?: Record<string, string | boolean>;
  /** Whether prompts wait for the running turn instead of being refused; see {@link PromptOptions.queue}. Default: `false`. */
  queue?: boolean;
  /** Most turns that wait. Default: 16. */
  maxQueuedTurns?: number;
  /** Whether adjacent text deltas of one message that are delivered together come as one event. Default: `false`. */
  coalesce?: boolean;
}

/** How to reopen a session. `cwd` must be the session's own. */
export interface LoadSessionOptions extends NewSessionOptions {
  /**
   * Receives what the agent repeats while it reopens the session, event by event, each with `replay: true`. Of a load all of
   * it comes before the promise resolves. Default: history is only in `session.state`.
   */
  onReplay?(event: SessionEvent): void;
  /**
   * `false` leaves the conversation out of what `onReplay` receives; what tells how the session stands (mode, options,
   * commands, title, usage) still comes. `session.state` has all of it either way. Default: `true`.
   */
  replay?: boolean;
}

/** How to fork a session. */
export interface ForkSessionOptions extends LoadSessionOptions {
  /**
   * Fork at this cursor instead of at the end: the new session has the history before it. Needs `unstable`, a session that is
   * open here, and a cursor of it that the agent offers for that (`state.cursors`, `capabilities.fork`). Default: absent.
   */
  cursorId?: string;
}

/** Which sessions to list. */
export interface ListSessionsOptions extends CallOptions {
  /** Only sessions of this directory. Default: all. */
  cwd?: string;
  /** Whether archived sessions are listed. Needs `unstable` and `sessionCapabilities.archive`. Default: the agent's choice. */
  archived?: AgentRequests['session/list']['params']['archived'];
}

/** Limits of one turn, and what goes along with it. */
export interface PromptOptions {
  /** Cancels the turn. One that still waits for its beginning rejects with the signal's reason. Default: none. */
  signal?: AbortSignalLike;
  /** `_meta` of the request, passed on as it is. Default: absent. */
  meta?: Meta;
  /**
   * Whether the turn waits until those before it are over, in order. A cancel of the session drops what waits: it rejects
   * with `aborted`. No room: `turn_in_progress`. Limits count from the turn's beginning. Default: the session's `queue`.
   */
  queue?: boolean;
  /**
   * Milliseconds for the whole turn; then it is cancelled and rejects with `timeout`. The time in which the agent waits for
   * the host counts, too: nothing makes a turn longer. 0 means no limit. Default: 0.
   */
  timeoutMs?: number;
  /**
   * Milliseconds without any protocol frame of this session; then the turn is cancelled and rejects with
   * `turn_stalled`. Paused while the agent waits for the host: for a permission, a form, a file, a terminal, an extension
   * request. 0 means no limit. Default: 0.
   */
  idleTimeoutMs?: number;
  /**
   * Milliseconds for which the session has to be quiet after the agent's answer before the turn is over: for agents whose
   * last updates come after it. What they say meanwhile belongs to the turn. `timeoutMs`, a cancel and a close end the turn
   * at once, and an agent that does not fall quiet ends it after four times as long and five seconds; it resolves with the
   * agent's answer all the same. 0: the turn is over with the answer. Default: 0.
   */
  settleMs?: number;
}

/** What a prompt may be: text, or the protocol's content blocks. */
export type PromptInput = string | PromptRequest['prompt'];

/** How a turn ended. */
export interface PromptResult {
  /** One of the protocol's reasons, or what the agent sent instead; empty when it gave none. */
  stopReason: StopReason | (string & {});
  /** The agent's message text of this turn, at most 5,000,000 UTF-16 code units; replayed and late text is not in it. */
  text: string;
  /** Whether there was more text than is kept, of the turn, of one update or of one line. */
  textTruncated: boolean;
  /** Tokens and cost, where the agent said anything of them; its own `source` and `scope` say what the counts mean. */
  usage?: TurnUsage;
  /** Whether this side had asked for the turn to be cancelled. */
  cancelRequested: boolean;
  /** Whether the turn was ended locally, because the agent did not end it in time after a cancel. */
  forced: boolean;
  /** `_meta` of the agent's answer. */
  meta?: Meta;
}

/**
 * How a cancel went: the agent ended the turn (`cancelled`), it did not in time and the turn was ended locally
 * (`forced`, the session takes no more turns), or there was no turn (`idle`).
 */
export interface CancelResult {
  state: 'cancelled' | 'forced' | 'idle';
}

/**
 * A running turn: iterate it for its events, await it for its result, or iterate it first and then await it. A turn that is
 * only awaited keeps no events. One that nobody asked for anything yet keeps 1,024 events, or 4 Mi UTF-16 code units of
 * them; with more they are given up, and who iterates then gets what follows. Iterating to the end, or breaking out, does
 * not cancel the turn.
 */
export interface PromptTurn extends AsyncIterable<SessionEvent>, PromiseLike<PromptResult> {
  /** The agent's message text, once the turn has ended. Rejects as the turn does. */
  text(): Promise<string>;
  /** The events as a web stream. Cancelling the stream does not cancel the turn. */
  toReadableStream(): HostReadableStream<SessionEvent>;
  /** Asks the agent to stop; resolves when the turn has ended. A turn that still waits is dropped, others are left alone. */
  cancel(): Promise<CancelResult>;
  catch<T = never>(onRejected?: ((reason: unknown) => T | PromiseLike<T>) | null): Promise<PromptResult | T>;
  finally(onFinally?: (() => void) | null): Promise<PromptResult>;
}

/** One conversation with the agent. */
export class AcpSession {
  private constructor();
  readonly id: string;
  /** Absolute path. */
  readonly cwd: string;
  /** The modes, where the agent has them; kept current. */
  readonly modes?: SessionModeState;
  /** The configuration options, where the agent has them; kept current. */
  readonly configOptions?: SessionConfigOption[];
  /**
   * Everything that the session said so far, merged: a frozen snapshot, made again only when something changed. Making it
   * takes as long as it is large: read it when you show it, not at every event. Loaded history is in it. It stays
   * readable after the session ended. `undefined` with `state: false`.
   */
  readonly state?: SessionState;
  /** `_meta` of the answer that opened it. */
  readonly meta?: Meta;
  /** Starts a turn. Rejects with `turn_in_progress` while another one runs, unless it may wait (`queue`). */
  prompt(input: PromptInput, options?: PromptOptions): PromptTurn;
  /**
   * Every update of the session from now on, in turns and between them. The first call begins with what came before anybody
   * could listen, unless a turn was started before. Ends when the session is closed.
   */
  updates(): AsyncIterableIterator<SessionEvent>;
  setMode(modeId: string, options?: CallOptions): Promise<void>;
  /** Resolves with the full set of options after the change. A value that the session does not offer is refused here. */
  setConfigOption(configId: string, value: string | boolean, options?: CallOptions): Promise<SessionConfigOption[]>;
  /**
   * Changes the option of the category `model` that offers the value, else an option `model` without a category. Rejects
   * with `unsupported_capability` when there is none.
   */
  setModel(modelId: string, options?: CallOptions): Promise<SessionConfigOption[]>;
  /** Changes the first option of a category that offers the value. Rejects with `unsupported_capability` when there is none. */
  setConfigCategory(category: string, value: string | boolean, options?: CallOptions): Promise<SessionConfigOption[]>;
  /** Needs `unstable` and `sessionCapabilities.title`. Resolves with the title as the agent keeps it. */
  setTitle(title: string, options?: CallOptions): Promise<string>;
  /** Cancels the running turn, and drops those that wait; resolves when it has ended. */
  cancel(): Promise<CancelResult>;
  /**
   * Cancels what a child session (a subagent) does now, and nothing else; its open permission questions are answered
   * `cancelled`. Resolves when the agent has been told: what becomes of it is in its events and in `state.subagents`. Only
   * where the agent offers it for this very child (`capabilities.cancel` of its `subagent_update`), otherwise
   * `unsupported_capability`; `invalid_argument` for an id that is no child of the session.
   */
  cancelSubagent(childSessionId: string): Promise<void>;
  /** Cancels the running turn, drops those that wait, waits for the end, then prompts. */
  interruptWith(input: PromptInput, options?: PromptOptions): PromptTurn;
  /** Cancels what runs, and tells the agent where it advertised `close`. Idempotent. */
  close(): Promise<void>;
}
export interface AcpSession extends AsyncDisposeMember {}

/** Facts for a bug report, counted since the launch. */
export interface Diagnostics {
  /** Bytes read from the agent's stdout. */
  bytesReceived: number;
  messagesReceived: number;
  /** Lines that were no messages. */
  noiseLines: number;
  /** The first of them, redacted and cut. */
  noiseSamples: string[];
  /** Lines skipped because of their length, or of how many JSON values they hold. */
  oversizeLines: number;
  /** Lines with invalid UTF-8 or lone surrogates, repaired. */
  repairedLines: number;
  /** Deviations from JSON-RPC that were tolerated. */
  quirks: number;
  /** Responses that answered no call. */
  unknownResponses: number;
  /** Responses whose caller was gone. */
  lateResponses: number;
  /** Updates of sessions that do not exist. */
  droppedUpdates: number;
  /** Requests of the agent that nothing handles. */
  refusedRequests: number;
}

/** A command for a person to sign in with, in a real terminal. Exit code 0 means success; launch anew after it. */
export interface LoginCommand {
  /** The launch's own program; never the agent's choice. */
  command: string;
  /** The launch's arguments, then the method's. */
  args: string[];
  cwd: string;
  /** The launch's environment, with the method's variables on top. A terminal usually needs `TERM`, too. */
  env: Record<string, string>;
}

/** A launched agent and the connection to it. */
export class AcpClient {
  private constructor();
  /**
   * Starts the agent, initializes, and authenticates when asked.
   *
   * @throws {AcpError} with the process tree already gone
   */
  static launch(options: LaunchOptions): Promise<AcpClient>;
  readonly pid: number;
  readonly protocolVersion: number;
  readonly agentInfo?: Implementation;
  readonly agentCapabilities: AgentCapabilities;
  readonly authMethods: AuthMethod[];
  /** `_meta` of the agent's answer to `initialize`. */
  readonly meta?: Meta;
  newSession(options?: NewSessionOptions): Promise<AcpSession>;
  /**
   * Needs `loadSession`. The history is in `session.state` when this resolves, and goes to `onReplay`. Rejects with
   * `session_already_open` while this client has the session open, or opens it.
   */
  loadSession(sessionId: string, options?: LoadSessionOptions): Promise<AcpSession>;
  /**
   * Needs `sessionCapabilities.resume`. An agent need not repeat the history; what it repeats all the same is treated as that
   * of a load. Rejects with `session_already_open` as `loadSession` does.
   */
  resumeSession(sessionId: string, options?: LoadSessionOptions): Promise<AcpSession>;
  /** Needs `sessionCapabilities.fork`. */
  forkSession(sessionId: string, options?: ForkSessionOptions): Promise<AcpSession>;
  /** Needs `sessionCapabilities.list`. Pages are fetched as they are consumed. */
  listSessions(options?: ListSessionsOptions): AsyncIterableIterator<SessionInfo>;
  /** Needs `sessionCapabilities.delete`. An open session of that id ends. */
  deleteSession(sessionId: string, options?: CallOptions): Promise<void>;
  /** The method must be advertised and not be a `terminal` one. */
  authenticate(methodId: string, options?: CallOptions): Promise<void>;
  /**
   * What a person runs to sign in with a method of type `terminal`. Needs `terminalAuth` at launch for the agent to offer
   * one. `acp login` does all of it.
   *
   * @throws {AcpError} `invalid_argument` for any other method, `malformed_response` for one that would change the program
   */
  loginCommand(methodId: string): LoginCommand;
  /** Needs `auth.logout`. */
  logout(options?: CallOptions): Promise<void>;
  /** Needs `unstable` and `auth.status`. */
  authStatus(options?: CallOptions): Promise<AuthStatus>;
  /** Needs `unstable` and `providers`. */
  listProviders(options?: CallOptions): Promise<ProviderInfo[]>;
  /** Needs `unstable` and `providers`. */
  setProvider(provider: ProviderSettings, options?: CallOptions): Promise<void>;
  /** Needs `unstable` and `providers`. */
  disableProvider(providerId: string, options?: CallOptions): Promise<void>;
  /** Needs `unstable` and `sessionCapabilities.status`. Take a status that is not known for `saved`. */
  sessionStatus(sessionId: string, options?: CallOptions): Promise<SessionStatus>;
  /** Needs `unstable` and `sessionCapabilities.options`. What a session would have, before it is opened. */
  sessionOptions(where?: SessionOptionsQuery): Promise<SessionOptionsResult>;
  /** Needs `unstable` and `sessionCapabilities.archive`. */
  archiveSession(sessionId: string, options?: CallOptions): Promise<void>;
  /** Needs `unstable` and `sessionCapabilities.archive`. */
  unarchiveSession(sessionId: string, options?: CallOptions): Promise<void>;
  /** Needs `unstable` and `sessionCapabilities.title`. Resolves with the title as the agent keeps it. */
  setSessionTitle(sessionId: string, title: string, options?: CallOptions): Promise<string>;
  /** Sends a request of the protocol, or an extension method; the result is as the agent sent it. */
  request<M extends keyof AgentRequests>(method: M, params: AgentRequests[M]['params'], options?: CallOptions):
    Promise<AgentRequests[M]['result']>;
  request(method: `_${string}`, params?: unknown, options?: CallOptions): Promise<unknown>;
  /** Sends an extension notification. */
  notify(method: `_${string}`, params?: unknown): void;
  /** The end of the agent's stderr so far, redacted. */
  stderr(): string;
  diagnostics(): Diagnostics;
  /** Resolves when the agent's process has ended; never rejects, and does not keep the host alive. */
  readonly closed: Promise<ExitInfo>;
  /**
   * Cancels running turns (at most 500 ms), closes the agent's stdin, then terminates and finally kills what is left
   * of its process tree. Resolves when the whole tree is gone. Idempotent.
   *
   * @param options.graceMs milliseconds for the agent to end by itself once its stdin is closed; default: 2,000
   */
  close(options?: { graceMs?: number }): Promise<ExitInfo>;
  /** Kills the process tree at once. Idempotent. */
  kill(): void;
}
export interface AcpClient extends AsyncDisposeMember {}

export {};
