'use strict';

const path = require('node:path');

const { RpcError, codes } = require('./peer');
const { words } = require('./words');

const MODES = Object.freeze([
  { id: 'answer', name: 'Answer', description: 'Thoughts, a plan, a tool call and an answer.' },
  { id: 'outline', name: 'Outline', description: 'A plan and one sentence.' },
]);

const MODELS = Object.freeze([
  { value: 'demo-echo', name: 'Echo', description: 'Repeats the prompt as it is. Not a model.' },
  { value: 'demo-upper', name: 'Echo in capitals', description: 'Repeats the prompt in capitals. Not a model.' },
]);

/** How many sessions one `session/list` page has. */
const PAGE = 50;

/** @param {string} message @returns {never} */
function invalid(message) {
  throw new RpcError(codes.invalidParams, message);
}

/** @param {unknown} value @param {string} name @returns {string} */
function absolutePath(value, name) {
  if (typeof value !== 'string' || !path.isAbsolute(value)) invalid(`${name} is an absolute path.`);
  return /** @type {string} */ (value);
}

/**
 * The parts that every request which opens a session has in common, checked.
 *
 * @param {any} params
 */
function opening(params) {
  const directories = params.additionalDirectories ?? [];
  if (!Array.isArray(directories)) invalid('additionalDirectories is an array.');
  for (const directory of directories) absolutePath(directory, 'additionalDirectories[]');
  return { cwd: absolutePath(params.cwd, 'cwd'), directories, systemPrompt: systemPrompt(params.systemPrompt) };
}

/** @param {any} prompt @returns {string} */
function systemPrompt(prompt) {
  if (prompt === undefined || prompt === null) return '';
  if (prompt.mode !== 'append') invalid('systemPrompt.mode is append: the other modes are not supported.');
  if (!Array.isArray(prompt.content) || prompt.content.length === 0) invalid('systemPrompt.content is not empty.');
  for (const block of prompt.content) {
    if (block?.type !== 'text' || typeof block.text !== 'string') invalid('systemPrompt.content has text blocks only.');
  }
  return prompt.content.map((/** @type {any} */ block) => block.text).join('\n');
}

/** One conversation. */
class Session {
  /**
   * @param {string} id
   * @param {ReturnType<typeof opening>} facts
   * @param {any} client The client's capabilities.
   */
  constructor(id, facts, client) {
    this.id = id;
    this.modeId = MODES[0].id;
    this.model = MODELS[0].value;
    this.thoughts = true;
    this.title = '';
    this.turns = 0;
    /** @type {'' | 'allow' | 'reject'} The answer to every further permission question. */
    this.standing = '';
    this.tokens = { input: 0, output: 0, thought: 0 };
    /** @type {object[]} What a client that loads the session is told again. */
    this.history = [];
    /** @type {AbortController | null} The running turn. */
    this.turn = null;
    this.cwd = '';
    /** @type {string[]} */
    this.directories = [];
    this.systemPrompt = '';
    this.booleans = false;
    this.open = true;
    this.reopen(facts, client);
  }

  /**
   * @param {ReturnType<typeof opening>} facts
   * @param {any} client
   */
  reopen(facts, client) {
    this.cwd = facts.cwd;
    this.directories = facts.directories;
    this.systemPrompt = facts.systemPrompt;
    this.booleans = client?.session?.configOptions?.boolean != null;
    this.open = true;
  }

  commands() {
    return words().map(({ word, description }) => ({ name: word, description }));
  }

  state() {
    return {
      modes: { currentModeId: this.modeId, availableModes: MODES },
      configOptions: this.configOptions(),
    };
  }

  configOptions() {
    const model = { id: 'model', name: 'Echo', category: 'model', type: 'select', currentValue: this.model };
    /** @type {object[]} */
    const options = [{ ...model, options: MODELS }];
    // A client gets to see a switch only if it said that it knows what one is.
    if (this.booleans) {
      options.push({ id: 'thoughts', name: 'Show thoughts', type: 'boolean', currentValue: this.thoughts });
    }
    return options;
  }

  /** @param {unknown} modeId */
  setMode(modeId) {
    const mode = MODES.find(({ id }) => id === modeId);
    this.modeId = mode ? mode.id : invalid('No mode has this id.');
  }

  /**
   * @param {unknown} id
   * @param {unknown} value
   */
  setConfigOption(id, value) {
    if (id === 'model') {
      const model = MODELS.find((one) => one.value === value);
      this.model = model ? model.value : invalid('The option model has no such value.');
    } else if (id === 'thoughts' && this.booleans) {
      this.thoughts = typeof value === 'boolean' ? value : invalid('The option thoughts is true or false.');
    } else invalid('No option has this id.');
  }

  /**
   * Adds a turn to the session's usage. The agent counts words and calls them tokens.
   *
   * @param {number} input
   * @param {number} output
   * @param {number} thought
   */
  count(input, output, thought) {
    const { tokens } = this;
    tokens.input += input;
    tokens.output += output;
    tokens.thought += thought;
    return {
      totalTokens: tokens.input + tokens.output + tokens.thought,
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      thoughtTokens: tokens.thought,
    };
  }

  cancel() {
    this.turn?.abort();
  }

  close() {
    this.cancel();
    this.open = false;
  }
}

/** The sessions of this process. They end with it. */
class SessionStore {
  constructor() {
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    this.count = 0;
  }

  /**
   * @param {any} params
   * @param {any} client
   */
  create(params, client) {
    if (!Array.isArray(params.mcpServers)) invalid('mcpServers is an array.');
    return this.add(new Session(`demo-${++this.count}`, opening(params), client));
  }

  /** @param {Session} session */
  add(session) {
    this.sessions.set(session.id, session);
    return session;
  }

  /**
   * Opens a session again, for `session/load` and `session/resume`.
   *
   * @param {any} params
   * @param {any} client
   * @param {unknown} [mcpServers]
   */
  open(params, client, mcpServers = params.mcpServers) {
    if (!Array.isArray(mcpServers)) invalid('mcpServers is an array.');
    const facts = opening(params);
    const session = this.known(params.sessionId);
    session.reopen(facts, client);
    return session;
  }

  /**
   * @param {any} params
   * @param {any} client
   */
  fork(params, client) {
    const facts = opening(params);
    const from = this.known(params.sessionId);
    const session = this.add(new Session(`demo-${++this.count}`, facts, client));
    const { modeId, model, thoughts, title, turns } = from;
    return Object.assign(session, { modeId, model, thoughts, title, turns, history: [...from.history] });
  }

  /** @param {any} params */
  list(params) {
    const start = params.cursor === undefined || params.cursor === null ? 0 : Number(params.cursor);
    if (!Number.isInteger(start) || start < 0) invalid('The cursor is not one of this agent.');
    const all = [...this.sessions.values()].filter((one) => params.cwd == null || one.cwd === params.cwd);
    const sessions = all.slice(start, start + PAGE).map(({ id, cwd, directories, title }) => ({
      sessionId: id,
      cwd,
      additionalDirectories: directories,
      ...(title && { title }),
    }));
    return { sessions, ...(start + PAGE < all.length && { nextCursor: String(start + PAGE) }) };
  }

  /** @param {unknown} id */
  find(id) {
    return typeof id === 'string' ? this.sessions.get(id) : undefined;
  }

  /** @param {unknown} id @returns {Session} */
  known(id) {
    const session = this.find(id);
    if (!session) throw new RpcError(codes.notFound, 'No session has this id.', { sessionId: id });
    return session;
  }

  /** @param {unknown} id @returns {Session} */
  live(id) {
    const session = this.known(id);
    if (!session.open) throw new RpcError(codes.notFound, 'The session is closed.', { sessionId: id });
    return session;
  }

  /** @param {unknown} id */
  delete(id) {
    const session = this.find(id);
    session?.close();
    if (session) this.sessions.delete(session.id);
  }

  cancelAll() {
    for (const session of this.sessions.values()) session.cancel();
  }
}

module.exports = { Session, SessionStore };
