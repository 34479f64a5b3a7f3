import {
  ACP_RUNTIME_ID, AcpRuntimeAdapter, acpRuntimeFactory, acpRuntimeMetadata, applyReadWindow, askAcpOnce,
  authenticateAcpConnection, boundIdentifier, buildPromptBlocks, buildSpawnEnv, checkSetup, classifyToolKind, connect,
  createBridgingClientHandler, createEventBridge, createFsHandlers, DENY, describeAcpTurnError, effectiveDisposition,
  extractJsonObjects, inferVerdictFromProse, inspectAcpTurnError, mapParsedToVerdict, newAcpSession,
  promptAcpSession, resolveCliSettings, resolvePermission, runApprovalForCategory, runCliAgentValidation, selectOption,
  setupManifest, toAcpMcpServers, toolDisplayName,
} from 'fusion-acp-runtime';
import type {
  AcpCallbacks, AcpConnection, AcpMcpServer, AgentRuntime, AgentRuntimeOptions, FusionCategory, GateDisposition,
  PermissionGate, ValidatorVerdict,
} from 'fusion-acp-runtime';
import type { Expect, Same } from './expect.js';

export type Id = Expect<Same<typeof ACP_RUNTIME_ID, 'acp'>>;
export type Deny = Expect<Same<typeof DENY, 'deny'>>;
export const metadata: { runtimeId: string; name: string; description: string; version: string } = acpRuntimeMetadata;

/** The adapter fits an engine's interface. */
export const runtime: AgentRuntime = new AcpRuntimeAdapter({ acpBinaryPath: 'agent', acpArgs: ['--acp'] });
/** So does anybody's object with a session of its own. */
export const other: AgentRuntime<{ n: number }> = {
  id: 'other',
  name: 'Other',
  createSession: async ({ cwd }) => ({ session: { n: cwd.length } }),
  promptWithFallback: async (session, prompt) => ({ stopReason: prompt.slice(session.n) }),
  describeModel: (session) => String(session.n),
};
// @ts-expect-error `describeModel` is part of the contract
export const incomplete: AgentRuntime = { id: 'a', name: 'b', createSession: runtime.createSession, promptWithFallback: runtime.promptWithFallback };

const gate: PermissionGate = {
  permissionPolicy: { rules: { command_execution: 'require-approval' } },
  createApprovalRequest: async (decision) => ({ id: decision.approvalDedupeKey }),
  findApprovalByDedupeKey: () => null,
  pauseForApproval: async ({ approvalRequestId }) => void approvalRequestId,
  markApprovalCompleted: () => {},
};
export const options: AgentRuntimeOptions = {
  cwd: '/work',
  systemPrompt: 'be brief',
  tools: 'readonly',
  onText: (text) => void text.length,
  actionGateContext: gate,
  mcpServers: [{ name: 'a', command: 'b', args: [], env: [] }, { transport: 'stdio', name: 'c', command: 'd', env: { A: '1' } }],
  taskEnv: { A: undefined },
};

export async function ask(): Promise<void> {
  for (const result of [
    await askAcpOnce(runtime, { prompt: 'p', cwd: '/work', timeoutMs: 1000, recoverJson: true }),
    await askAcpOnce(other, { prompt: 'p', cwd: '/work' }),
  ]) {
    if (result.ok) {
      const text: string = result.text;
      const truncated: true | undefined = result.truncated;
      void [text, result.parsed, result.stopReason, truncated];
      // @ts-expect-error a success has no reason
      result.reason;
    } else {
      const text: string | undefined = result.text;
      void [text, result.reason === 'abnormal_stop', result.message];
    }
  }
  // @ts-expect-error `cwd` is required
  await askAcpOnce(runtime, { prompt: 'p' });
  const verdict: ValidatorVerdict = await runCliAgentValidation(runtime, { prompt: 'p', cwd: '/work' });
  const mapped: ValidatorVerdict = mapParsedToVerdict(extractJsonObjects('{}').at(-1), 'text');
  void [verdict.assertions[0]?.assertionId, mapped.blockedReason];
}
export type Prose = Expect<Same<ReturnType<typeof inferVerdictFromProse>, 'fail' | 'blocked' | undefined>>;

export async function connection(): Promise<void> {
  const live: AcpConnection = await connect({
    binaryPath: 'agent',
    args: [],
    cwd: '/work',
    env: buildSpawnEnv(['PATH'], { required: ['PATH'], sourceEnv: { PATH: undefined } }),
    advertiseFs: { read: true, write: false },
    clientHandler: createBridgingClientHandler({}, gate, { cwd: '/', allowRead: true, allowWrite: false }).handler,
  });
  const { sessionId } = await newAcpSession(live, { cwd: '/work' });
  const stop: string = await promptAcpSession(live, sessionId, buildPromptBlocks('hi', { images: [{ data: '', mimeType: 'image/png' }] }));
  const used: { methodId: string } | undefined = await authenticateAcpConnection(live, { preferMethods: ['a'] });
  void [stop, used, live.child.pid, live.stderr()];
  live.child.once('exit', (code, signal) => void [code, signal]);
  live.dispose();
  // A test's stand-in is enough.
  await newAcpSession({ conn: { newSession: async () => ({ sessionId: 'a' }) } }, { cwd: '/' });
  // @ts-expect-error but it needs the method that is called
  await newAcpSession({ conn: {} }, { cwd: '/' });
  // @ts-expect-error `advertiseFs` is required
  await connect({ binaryPath: 'agent', args: [], cwd: '/', env: {} });
}

const callbacks: AcpCallbacks = { onText: () => {}, onToolEnd: (name, isError, result) => void [name, isError, result] };
createEventBridge(callbacks).handleSessionUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '' } });
createEventBridge(callbacks).handleSessionUpdate({ sessionUpdate: 'tag_of_tomorrow' });

export const category: FusionCategory | 'exempt' | 'deny' = classifyToolKind('execute');
export const chosen: string | undefined = selectOption('allow', [{ optionId: 'a', name: 'A', kind: 'allow_once' }]).optionId;
export const disposition: GateDisposition = effectiveDisposition('git_write', gate, { allowUnrestricted: true });
export const approval: Promise<'allow' | 'deny'> = runApprovalForCategory(gate, { category: 'network_api', toolName: 't', dedupeKey: 'k' });
// @ts-expect-error not a category
effectiveDisposition('everything', gate);
void resolvePermission({ toolCallId: 'a' }, [], undefined).then(({ outcome }) => outcome.outcome === 'selected' && outcome.optionId);

export const handlers: Promise<{ content: string }> | undefined =
  createFsHandlers({ cwd: '/', allowRead: true, allowWrite: false }).readTextFile?.({ path: '/a', line: 1, limit: null });
// @ts-expect-error a handler can be absent
createFsHandlers({ cwd: '/', allowRead: false, allowWrite: false }).writeTextFile({ path: '/a', content: '' });

export const texts: string[] = [
  applyReadWindow('a\nb', 1, null, 10), boundIdentifier(undefined), toolDisplayName({ kind: 'read' }),
  describeAcpTurnError(new Error('x')), resolveCliSettings({}).binaryPath, setupManifest.binaryName,
];
export const detail: number | undefined = inspectAcpTurnError(null).code;
export const servers: AcpMcpServer[] = toAcpMcpServers([{ anything: true }]);
export const setup: Promise<string> = checkSetup({ settings: {} }).then(({ status }) => status);
export const made: Promise<AcpRuntimeAdapter> = acpRuntimeFactory({ settings: {}, logger: { info() {}, warn() {} } });
