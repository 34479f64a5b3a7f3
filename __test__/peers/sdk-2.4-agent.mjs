// An agent on the official TypeScript SDK 2.4, with every client service that the SDK offers to an agent. The prompt
// names what it does; anything else is echoed, word by word.

import { Readable, Writable } from 'node:stream';
import * as acp from 'acp-sdk-2.4';

/** @type {Map<string, { cwd: string, turn?: AbortController }>} */
const sessions = new Map();
let nextSession = 1;

/** @param {string} id */
function sessionOf(id) {
  const session = sessions.get(id);
  if (!session) throw acp.RequestError.resourceNotFound(id);
  return session;
}

/**
 * @param {any} ctx
 * @param {object} update
 */
const update = (ctx, update) =>
  ctx.client.notify(acp.methods.client.session.update, { sessionId: ctx.params.sessionId, update });

/**
 * @param {any} ctx
 * @param {string} text
 */
const say = (ctx, text) => update(ctx, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

/**
 * What a prompt may name.
 *
 * @type {Record<string, (ctx: any, session: { cwd: string }, signal: AbortSignal) => Promise<unknown>>}
 */
const ACTS = {
  async permission(ctx) {
    const toolCall = { toolCallId: 'call-1', title: 'Remove the build folder', kind: 'delete', status: 'pending' };
    await update(ctx, { sessionUpdate: 'tool_call', ...toolCall });
    const options = [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ];
    const { outcome } = await ctx.client.request(acp.methods.client.session.requestPermission, {
      sessionId: ctx.params.sessionId,
      toolCall,
      options,
    });
    const allowed = outcome.outcome === 'selected' && outcome.optionId === 'yes';
    const status = allowed ? 'completed' : 'failed';
    await update(ctx, { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status });
    await say(ctx, outcome.outcome === 'selected' ? `chosen ${outcome.optionId}` : outcome.outcome);
  },
  async write(ctx, { cwd }) {
    const path = `${cwd}/from-agent.txt`;
    await ctx.client.request(acp.methods.client.fs.writeTextFile, {
      sessionId: ctx.params.sessionId,
      path,
      content: 'one\ntwo\nthree\n',
    });
    const { content } = await ctx.client.request(acp.methods.client.fs.readTextFile, {
      sessionId: ctx.params.sessionId,
      path,
      line: 2,
      limit: 1,
    });
    await say(ctx, `read ${JSON.stringify(content)}`);
  },
  async terminal(ctx, { cwd }) {
    const terminal = await ctx.client.createTerminal({
      sessionId: ctx.params.sessionId,
      command: process.execPath,
      args: ['-e', 'console.log("from the terminal"); process.exit(3)'],
      cwd,
    });
    const { exitCode } = await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await terminal.release();
    await say(ctx, `exit ${exitCode}, ${output.trim()}`);
  },
  async slow(ctx, _session, signal) {
    for (let piece = 1; !signal.aborted; piece++) {
      await say(ctx, `piece ${piece} `);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
  async fail() {
    throw acp.RequestError.internalError({ details: 'the model is on fire' });
  },
};

const agent = acp
  .agent({ name: 'sdk-2.4-agent' })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: 'sdk-2.4-agent', version: '1.0.0' },
    agentCapabilities: { loadSession: false },
  }))
  .onRequest(acp.methods.agent.session.new, ({ params }) => {
    const sessionId = `session-${nextSession++}`;
    sessions.set(sessionId, { cwd: params.cwd });
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, async (ctx) => {
    const session = sessionOf(ctx.params.sessionId);
    const turn = new AbortController();
    session.turn = turn;
    const text = ctx.params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const act = ACTS[text];
    if (act) await act(ctx, session, turn.signal);
    else for (const word of text.split(/(?<= )/)) await say(ctx, word);
    return { stopReason: turn.signal.aborted ? 'cancelled' : 'end_turn' };
  })
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.turn?.abort());

agent.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
