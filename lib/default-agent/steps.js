'use strict';

const path = require('node:path');

const { RpcError, codes } = require('./peer');

/** @typedef {import('./turn').Turn} Turn */
/** @typedef {(turn: Turn, argument: string) => Promise<string | void>} Step A string ends the turn with that stop reason. */

/** @param {string} text */
const textContent = (text) => ({ type: 'content', content: { type: 'text', text } });

/**
 * @param {string} argument
 * @param {number} fallback
 * @param {number} most
 */
function number(argument, fallback, most) {
  const value = Number.parseInt(argument, 10);
  return Number.isNaN(value) ? fallback : Math.min(Math.max(value, 0), most);
}

/**
 * Asks the client whether a tool call may go on. A standing answer of this session counts.
 *
 * @param {Turn} turn
 * @param {string} toolCallId
 * @param {object} call
 */
async function permitted(turn, toolCallId, call) {
  const { session } = turn;
  if (session.standing) return session.standing === 'allow';
  const { outcome } = await turn.request('session/request_permission', {
    toolCall: { toolCallId, status: 'pending', ...call },
    options: [
      { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
      { optionId: 'allow-always', name: 'Always allow', kind: 'allow_always' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
      { optionId: 'reject-always', name: 'Always reject', kind: 'reject_always' },
    ],
  });
  if (outcome?.outcome !== 'selected') return false;
  if (outcome.optionId === 'allow-always') session.standing = 'allow';
  if (outcome.optionId === 'reject-always') session.standing = 'reject';
  return outcome.optionId === 'allow' || outcome.optionId === 'allow-always';
}

/**
 * A tool call that needs permission: what happens when it is given, and a failed call when it is not.
 *
 * @param {Turn} turn
 * @param {{ title: string, kind: string, rawInput?: object, locations?: object[] }} call
 * @param {(toolCallId: string) => Promise<{ content: object[], rawOutput?: object, failed?: boolean }>} run
 */
async function guarded(turn, call, run) {
  await turn.tool(call, async (toolCallId) => {
    if (!(await permitted(turn, toolCallId, call))) {
      await turn.say('The client denied permission.\n');
      return { content: [textContent('Denied by the client.')], failed: true };
    }
    await turn.begin(toolCallId);
    return attempt(turn, () => run(toolCallId));
  });
}

/**
 * Runs what a client may refuse; its refusal is the outcome of the tool call, not the end of the turn.
 *
 * @param {Turn} turn
 * @param {() => Promise<{ content: object[], rawOutput?: object, failed?: boolean }>} run
 */
async function attempt(turn, run) {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    await turn.say(`The client answered with the error ${error.code}: ${error.message}\n`);
    return { content: [textContent(error.message)], failed: true };
  }
}

/** @param {string} stopReason @returns {Step} */
const stops = (stopReason) => async (turn) => {
  await turn.say(`I am the built-in demo agent, not a model. This turn ends with ${stopReason}.`);
  return stopReason;
};

/** What each steering word does; `words.js` describes them. @type {Record<string, Step>} */
const steps = {
  async count(turn) {
    const call = { title: 'Count the words of the prompt', kind: 'think', rawInput: { characters: turn.text.length } };
    await turn.tool(call, async (toolCallId) => {
      await turn.begin(toolCallId);
      const words = turn.text.match(/\S+/g)?.length ?? 0;
      return { content: [textContent(`${words} words`)], rawOutput: { words } };
    });
  },

  async permission(turn) {
    await guarded(turn, { title: 'Do nothing, with permission', kind: 'other' }, async () => {
      await turn.say('The client gave permission.\n');
      return { content: [textContent('Nothing was done.')] };
    });
  },

  async read(turn, argument) {
    if (turn.client?.fs?.readTextFile !== true) return turn.say('The client offers no reading of files.\n');
    const file = path.resolve(turn.session.cwd, argument || 'README.md');
    const call = { title: `Read ${path.basename(file)}`, kind: 'read', locations: [{ path: file }], rawInput: { file } };
    await turn.tool(call, async (toolCallId) => {
      await turn.begin(toolCallId);
      return attempt(turn, async () => {
        const { content } = await turn.request('fs/read_text_file', { path: file });
        await turn.say(`The file has ${content.length} characters.\n`);
        return { content: [textContent(content)], rawOutput: { characters: content.length } };
      });
    });
  },

  async write(turn, argument) {
    if (turn.client?.fs?.writeTextFile !== true) return turn.say('The client offers no writing of files.\n');
    const file = path.resolve(turn.session.cwd, argument || 'demo-agent.txt');
    const newText = 'Written by the built-in demo agent.\n';
    const call = { title: `Write ${path.basename(file)}`, kind: 'edit', locations: [{ path: file }], rawInput: { file } };
    await guarded(turn, call, async () => {
      await turn.request('fs/write_text_file', { path: file, content: newText });
      await turn.say('The file was written.\n');
      return { content: [{ type: 'diff', path: file, oldText: null, newText }] };
    });
  },

  async terminal(turn, argument) {
    if (turn.client?.terminal !== true) return turn.say('The client offers no terminal.\n');
    const [command = 'node', ...args] = (argument || 'node --version').split(/\s+/);
    const call = { title: `Run ${command}`, kind: 'execute', rawInput: { command, args } };
    await guarded(turn, call, async (toolCallId) => {
      const { session, peer } = turn;
      const creating = peer.request('terminal/create', { sessionId: session.id, command, args, cwd: session.cwd });
      try {
        const { terminalId } = await Promise.race([creating, turn.cancelled]);
        const content = [{ type: 'terminal', terminalId }];
        await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, content });
        const status = await turn.request('terminal/wait_for_exit', { terminalId });
        const { output } = await turn.request('terminal/output', { terminalId });
        await turn.say(`The command ended with ${status.exitCode ?? status.signal} and printed: ${output.trim()}\n`);
        return { content, rawOutput: { ...status }, failed: status.exitCode !== 0 };
      } finally {
        // Also when the turn was cancelled, even before the terminal was there: none is left behind.
        const released = creating.then(({ terminalId }) =>
          peer.request('terminal/release', { sessionId: session.id, terminalId }),
        );
        released.catch(() => {});
      }
    });
  },

  async ask(turn) {
    if (turn.client?.elicitation?.form == null) return turn.say('The client offers no forms.\n');
    const requestedSchema = {
      type: 'object',
      properties: { name: { type: 'string', title: 'Name', minLength: 1, maxLength: 100 } },
      required: ['name'],
    };
    const message = 'What should the built-in demo agent call you?';
    const { action, content } = await turn.request('elicitation/create', { mode: 'form', message, requestedSchema });
    await turn.say(action === 'accept' ? `The form came back with ${content?.name}.\n` : `The form came back: ${action}.\n`);
  },

  async slow(turn, argument) {
    const milliseconds = number(argument, 100, 10_000);
    for (let tick = 1; tick <= 50; tick++) {
      await turn.pause(milliseconds);
      await turn.say(`${tick} `);
    }
  },

  async flood(turn, argument) {
    const count = number(argument, 1000, 1_000_000);
    const update = turn.chunk('agent_message_chunk', 'All work and no play. ');
    for (let sent = 0; sent < count; sent++) {
      if (!turn.peer.notify('session/update', { sessionId: turn.session.id, update })) await turn.peer.drained();
      // Now and then a look at what the client sent: a flood can be cancelled too.
      if (sent % 256 === 255) await turn.pause(0);
    }
    turn.written += count * 5;
  },

  async hang(turn) {
    await turn.say('I wait until the turn is cancelled.');
    await turn.cancelled;
  },

  refuse: stops('refusal'),
  max_tokens: stops('max_tokens'),
  max_turn_requests: stops('max_turn_requests'),

  async fail(turn) {
    await turn.say('I am the built-in demo agent, and this turn fails');
    throw new RpcError(codes.internal, 'The demo agent was asked to fail.', { asked: true });
  },

  async auth() {
    throw new RpcError(codes.authRequired, 'Authentication required.');
  },

  async crash(turn) {
    await turn.say('I am the built-in demo agent, and this process ends');
    process.stderr.write('fusion-acp-default-agent: asked to crash\n');
    // Only once everything written before has left.
    await new Promise((resolve) => {
      turn.peer.output.write('', resolve);
    });
    process.exit(3);
  },
};

module.exports = { steps };
