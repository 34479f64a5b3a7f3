import { AcpClient, AcpError, AcpSession } from 'fusion-acp-runtime';
import type {
  CancelResult, ElicitationAnswer, ElicitationProblem, ElicitationRequest, ExitInfo, LaunchOptions, PermissionDecision, PromptResult, PromptTurn, SessionConfigOption,
  SessionEvent, SessionInfo,
} from 'fusion-acp-runtime';
import type { Expect, Same } from './expect.js';

export const minimal: LaunchOptions = { command: 'agent', cwd: '/work' };
export const full: LaunchOptions = {
  command: 'agent',
  args: ['--acp'],
  cwd: '/work',
  env: { PATH: '/usr/bin' },
  clientInfo: { name: 'host', version: '1.0.0' },
  richUpdates: false,
  capabilitiesMeta: { 'vendor.example': true },
  authenticate: { preferMethods: ['cached_token'], require: true },
  initializeTimeoutMs: 30_000,
  maxMessageBytes: 1 << 20,
  onPermission: async (request) => {
    if (request.signal.aborted) return 'deny';
    const once = request.options.find((option) => option.kind === 'allow_once');
    return once ? { optionId: once.optionId } : { outcome: 'cancelled' };
  },
  fs: { read: true, write: true, approveWrite: ({ path }) => path.endsWith('.md') },
  terminal: { approve: async ({ command }) => command === 'ls' },
  onElicitation: (request) => (request.mode === 'url' ? { action: 'decline' } : { action: 'accept', content: { a: 1 } }),
  onExtRequest: (method, params) => ({ method, params }),
  onExtNotification: (method) => void method,
  onWire: ({ direction, frame }) => void (direction === 'to_agent' && frame.length),
};
// @ts-expect-error `cwd` is required
export const noCwd: LaunchOptions = { command: 'agent' };
// @ts-expect-error an environment has strings only
export const badEnv: LaunchOptions = { command: 'agent', cwd: '/', env: { A: 1 } };
// @ts-expect-error misspelt options are found
export const misspelt: LaunchOptions = { command: 'agent', cwd: '/', onPermissions: () => 'deny' };
export const decisions: PermissionDecision[] = ['allow', 'deny', { optionId: 'x' }, { outcome: 'cancelled' }];
// @ts-expect-error not a decision
export const undecided: PermissionDecision = 'maybe';

export async function use(): Promise<void> {
  const client = await AcpClient.launch(minimal);
  const session: AcpSession = await client.newSession();

  // Iterate, await, or both.
  const turn: PromptTurn = session.prompt('hello');
  for await (const event of turn) {
    const typed: SessionEvent = event;
    void typed;
  }
  const result: PromptResult = await turn;
  const text: string = await session.prompt([{ type: 'text', text: 'hello' }], { timeoutMs: 1000, settleMs: 200 }).text();
  const cancelled: CancelResult = await turn.cancel();
  void [result.usage?.inputTokens, text, cancelled.state === 'forced'];
  turn.catch((reason: unknown) => void reason);
  turn.finally(() => {}).then((done) => void done.stopReason);
  const next = await turn[Symbol.asyncIterator]().next();
  if (!next.done) {
    // @ts-expect-error an event is not a result
    const wrong: PromptResult = next.value;
    void wrong;
  }

  for await (const event of session.updates()) if (event.type === 'plan') break;
  const options: SessionConfigOption[] = await session.setConfigOption('model', 'large');
  await session.setMode('code');
  // @ts-expect-error a mode has an id
  await session.setMode();
  await session.interruptWith('stop, do this instead');
  void options;

  for await (const info of client.listSessions({ cwd: '/work' })) {
    const typed: SessionInfo = info;
    void typed;
  }
  const modes = await client.request('session/set_mode', { sessionId: session.id, modeId: 'code' });
  const extension: unknown = await client.request('_vendor/method', { any: 1 });
  client.notify('_vendor/event');
  // @ts-expect-error a method of the protocol has its own parameters
  await client.request('session/set_mode', { sessionId: session.id });
  // @ts-expect-error extension methods begin with an underscore
  await client.request('vendor/method');
  // @ts-expect-error only an agent's own notifications can be sent
  client.notify('session/update', {});
  void [modes, extension];

  const exit: ExitInfo = await client.close({ graceMs: 100 });
  const code: number | null = exit.exitCode;
  void [code, client.diagnostics().noiseLines, (await client.closed).signal];
  // @ts-expect-error identity is read-only
  session.id = 'x';
  // @ts-expect-error a client is launched
  new AcpClient();
  // @ts-expect-error a session comes from a client
  new AcpSession();
}

export function failure(error: unknown): string {
  if (!(error instanceof AcpError)) throw error;
  return error.promptMayHaveBeenSent ? error.partialText ?? '' : error.code;
}

export type Awaited1 = Expect<Same<Awaited<PromptTurn>, PromptResult>>;

export async function more(client: AcpClient, session: AcpSession): Promise<void> {
  const opened = await client.newSession({
    queue: true, maxQueuedTurns: 4, coalesce: true, configOptions: { model: 'large', fast: true },
    meta: { traceparent: '00-x', tracestate: 'a=b', baggage: 'c=d' },
  });
  await client.loadSession('s', { replay: false, timeoutMs: 0 });
  await client.resumeSession('s', { replay: false, onReplay: (event) => void (event.replay satisfies true | undefined) });
  // @ts-expect-error nothing is repeated in a new session
  await client.newSession({ replay: false });
  await client.newSession({
    mcpServers: [
      { name: 'stdio', command: 'c', args: [], env: [] },
      { type: 'acp', name: 'own', handle: ({ method, params, notify, signal }) => void (signal.aborted || notify(method, { ...params })) },
    ],
  });
  // @ts-expect-error a server of the host's own has no id, it has a function
  await client.newSession({ mcpServers: [{ type: 'acp', name: 'own', serverId: 'x' }] });
  await client.forkSession('s', { cursorId: session.state?.cursors[0]?.cursorId ?? 'c', replay: true });
  await session.cancelSubagent('child') satisfies void;
  // @ts-expect-error a value is a string or a boolean
  await client.newSession({ configOptions: { n: 1 } });
  opened.prompt('x', { queue: false, meta: { any: [1] } }).catch(() => {});
  await session.setConfigCategory('thought_level', 'high', { timeoutMs: 1 });
  const title: string = await session.setTitle('T');
  const status: 'open' | 'saved' | (string & {}) = await client.sessionStatus('s');
  const { state, accounts } = await client.authStatus();
  const known: 'authenticated' | 'unauthenticated' | 'not_required' | 'unknown' = state;
  const providers: string[] = (await client.listProviders()).map((provider) => provider.providerId);
  await client.setProvider({ providerId: 'p', apiType: 'openai', baseUrl: 'https://x', headers: { a: 'b' } });
  // @ts-expect-error a provider has an address
  await client.setProvider({ providerId: 'p', apiType: 'openai' });
  await client.disableProvider('p');
  const { modes, configOptions } = await client.sessionOptions({ cwd: '/work', sessionId: 's' });
  await client.archiveSession('s');
  await client.unarchiveSession('s');
  const { command, args, cwd, env } = client.loginCommand('tty');
  const parts: [string, string[], string, Record<string, string>] = [command, args, cwd, env];
  void [title, status, known, accounts.length, providers, modes?.currentModeId, configOptions?.length, parts, session.meta];
}

export const asks: LaunchOptions = {
  command: 'agent',
  cwd: '/work',
  unstable: true,
  onAuthStatus: ({ state }) => void (state === 'unknown'),
  onElicitation(request: ElicitationRequest): ElicitationAnswer {
    if (request.mode === 'url') {
      const host: string = request.host;
      // @ts-expect-error an address has no form
      request.validate({});
      return { action: host === 'example.com' ? 'accept' : 'decline' };
    }
    const problems: ElicitationProblem[] = request.validate({ a: 1 });
    return problems.length === 0 ? { action: 'accept', content: { a: 1 } } : { action: 'cancel' };
  },
  onExtRequest: (_method, _params, { signal }) => signal.aborted,
};
