'use strict';

const { setTimeout: sleep } = require('node:timers/promises');

const { RpcError, codes } = require('./peer');
const { steps } = require('./steps');
const { parseWords } = require('./words');

/** How many updates a session keeps for a client that loads it later. */
const HISTORY = 1000;
/** How much of the prompt the answer repeats, in UTF-16 code units. */
const ECHO = 4000;
/** The context window the agent claims to have, in words. */
const CONTEXT = 100_000;

/** @param {string} text */
const countWords = (text) => text.match(/\S+/g)?.length ?? 0;

/** Cuts a text into the chunks it is streamed in: a few words each, never inside a character. @param {string} text */
const chunksOf = (text) => text.match(/\s*(?:\S{1,80}\s*){1,4}/gu) ?? [text];

/** What the steps of one turn need: sending updates, asking the client, stopping when the turn is cancelled. */
class Turn {
  /**
   * @param {import('./peer').Peer} peer
   * @param {import('./sessions').Session} session
   * @param {any[]} prompt
   * @param {any} client The client's capabilities.
   * @param {AbortSignal} signal Aborts when the turn is cancelled.
   */
  constructor(peer, session, prompt, client, signal) {
    this.peer = peer;
    this.session = session;
    this.client = client;
    this.signal = signal;
    this.calls = 0;
    this.messageId = `message-${session.turns + 1}`;
    /** @type {Promise<never>} Rejects when the turn is cancelled. */
    this.cancelled = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    // A cancellation that no step waits for is not an error of its own.
    this.cancelled.catch(() => {});
    this.written = 0;
    this.thought = 0;
    const text = prompt.filter(({ type }) => type === 'text').map((block) => String(block.text)).join('\n');
    const { found, rest } = parseWords(text);
    this.words = found;
    this.text = rest;
    this.attachments = prompt.filter(({ type }) => type !== 'text').map(describeBlock);
    this.read = countWords(text);
  }

  /** @param {string} word */
  has(word) {
    return this.words.some((one) => one.word === word);
  }

  /**
   * Sends one update. Waits for the client when it is slow, and for a cancellation that may have come in.
   *
   * @param {Record<string, unknown>} update
   * @param {{ keep?: boolean }} [options] `keep: false`: the update is not replayed when the session is loaded.
   */
  async update(update, { keep = true } = {}) {
    this.signal.throwIfAborted();
    if (keep) {
      this.session.history.push(update);
      if (this.session.history.length > HISTORY) this.session.history.shift();
    }
    if (!this.peer.notify('session/update', { sessionId: this.session.id, update })) await this.peer.drained();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.signal.throwIfAborted();
  }

  /**
   * @param {string} sessionUpdate
   * @param {string} text
   */
  chunk(sessionUpdate, text) {
    return { sessionUpdate, messageId: this.messageId, content: { type: 'text', text } };
  }

  /** @param {string} text */
  async say(text) {
    this.written += countWords(text);
    for (const chunk of chunksOf(text)) {
      await this.update(this.chunk('agent_message_chunk', chunk));
    }
  }

  /** @param {string} text */
  async think(text) {
    this.thought += countWords(text);
    for (const chunk of chunksOf(text)) {
      await this.update(this.chunk('agent_thought_chunk', chunk));
    }
  }

  /** Sends the plan with its first `done` entries completed. @param {number} done */
  async plan(done) {
    const entries = ['Read the prompt', 'Count its words', 'Write the answer'].map((content, index) => ({
      content,
      priority: 'medium',
      status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending',
    }));
    await this.update({ sessionUpdate: 'plan', entries });
  }

  /**
   * Announces a tool call, runs it, and reports how it went.
   *
   * @param {{ title: string, kind: string, rawInput?: object, locations?: object[] }} call
   * @param {(toolCallId: string) => Promise<{ content: object[], rawOutput?: object, failed?: boolean }>} run
   */
  async tool(call, run) {
    const toolCallId = `call-${this.session.turns}-${++this.calls}`;
    await this.update({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...call });
    const { content, rawOutput, failed = false } = await run(toolCallId);
    const status = failed ? 'failed' : 'completed';
    await this.update({ sessionUpdate: 'tool_call_update', toolCallId, status, content, rawOutput });
  }

  /** Says that a tool call has begun. @param {string} toolCallId */
  async begin(toolCallId) {
    await this.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  }

  /**
   * Asks the client something. Gives up at once when the turn is cancelled.
   *
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  async request(method, params) {
    this.signal.throwIfAborted();
    const answer = this.peer.request(method, { sessionId: this.session.id, ...params });
    // After a cancellation nobody waits for the answer any more.
    answer.catch(() => {});
    return Promise.race([answer, this.cancelled]);
  }

  /** @param {number} milliseconds */
  async pause(milliseconds) {
    await sleep(milliseconds, undefined, { signal: this.signal });
  }
}

/** @param {any} block */
function describeBlock(block) {
  if (block.type === 'image' || block.type === 'audio') return `${block.type} (${block.mimeType})`;
  if (block.type === 'resource_link') return `link to ${block.uri}`;
  if (block.type === 'resource') return `resource ${block.resource?.uri}`;
  throw new RpcError(codes.invalidParams, `The agent takes no content block of type ${block.type}.`);
}

/** @param {Turn} turn */
function answerTo(turn) {
  const { session } = turn;
  // `toWellFormed` mends a character that the cut went through.
  const echo = turn.text.length > ECHO ? `${turn.text.slice(0, ECHO).toWellFormed()}…` : turn.text;
  const count = countWords(turn.text);
  const lines = [
    'I am the built-in demo agent of fusion-acp-runtime, not a model.',
    `You wrote ${count} ${count === 1 ? 'word' : 'words'}: ${session.model === 'demo-upper' ? echo.toUpperCase() : echo}`,
  ];
  if (turn.attachments.length > 0) lines.push(`You attached: ${turn.attachments.join(', ')}.`);
  if (session.systemPrompt) lines.push(`The system prompt has ${countWords(session.systemPrompt)} words.`);
  return lines.join('\n');
}

/** The JSON that ends an answer, if one was asked for. @param {Turn} turn */
function jsonFor(turn) {
  const verdict = turn.words.find(({ word }) => word === 'verdict');
  if (verdict) return { verdict: verdict.argument || 'pass', summary: 'Said by the built-in demo agent, not a model.' };
  const words = countWords(turn.text);
  return turn.has('json') ? { agent: 'fusion-acp-default-agent', prompt: turn.text.slice(0, ECHO), words } : null;
}

/**
 * Plays the turn from its first thought to its stop reason.
 *
 * @param {Turn} turn
 * @returns {Promise<string>} The stop reason.
 */
async function play(turn) {
  const { session } = turn;
  const chosen = ['thought', 'plan', 'tool', 'plain'].some((word) => turn.has(word));
  const outline = session.modeId === 'outline';
  /** @param {string} part */
  const wants = (part) => turn.has(part) || (!chosen && (!outline || part === 'plan'));

  if (wants('thought') && session.thoughts) await turn.think('The prompt is short work: count its words, then repeat it.');
  if (wants('plan')) await turn.plan(1);
  if (wants('tool')) await steps.count(turn, '');
  for (const { word, argument } of turn.words) {
    const stopReason = Object.hasOwn(steps, word) ? await steps[word](turn, argument) : undefined;
    if (stopReason) return stopReason;
  }
  if (wants('plan')) await turn.plan(2);
  await turn.say(outline ? 'I am the built-in demo agent, not a model; this was an outline.' : answerTo(turn));
  const json = jsonFor(turn);
  if (json) await turn.say(`\n${JSON.stringify(json)}`);
  if (wants('plan')) await turn.plan(3);
  return 'end_turn';
}

/**
 * Handles `session/prompt`.
 *
 * @param {import('./peer').Peer} peer
 * @param {import('./sessions').Session} session
 * @param {unknown} prompt
 * @param {any} client The client's capabilities.
 * @param {AbortSignal} requestSignal Aborts when the client cancels the request itself.
 */
async function runTurn(peer, session, prompt, client, requestSignal) {
  if (!Array.isArray(prompt) || prompt.length === 0 || prompt.some((block) => typeof block?.type !== 'string')) {
    throw new RpcError(codes.invalidParams, 'prompt is a list of content blocks, and not empty.');
  }
  if (session.turn) throw new RpcError(codes.invalidRequest, 'The session has a turn that is still running.');
  const controller = new AbortController();
  const turn = new Turn(peer, session, prompt, client, controller.signal);
  session.turn = controller;
  session.turns++;
  const abort = () => controller.abort();
  requestSignal.addEventListener('abort', abort, { once: true });
  for (const content of prompt) session.history.push({ sessionUpdate: 'user_message_chunk', content });
  if (!session.title) session.title = turn.text.slice(0, 60);

  let stopReason = 'cancelled';
  try {
    stopReason = await play(turn);
    const used = Math.min(turn.read + turn.written + turn.thought, CONTEXT);
    await turn.update({ sessionUpdate: 'usage_update', used, size: CONTEXT }, { keep: false });
  } catch (error) {
    // Whatever a cancelled turn stumbled over, it was cancelled.
    if (!controller.signal.aborted) throw error;
    stopReason = 'cancelled';
  } finally {
    requestSignal.removeEventListener('abort', abort);
    session.turn = null;
  }
  const usage = session.count(turn.read, turn.written, turn.thought);
  return { stopReason, usage };
}

module.exports = { Turn, runTurn };
