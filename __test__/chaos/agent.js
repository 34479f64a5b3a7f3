'use strict';

// An agent that does what it is told, however wrong: `node agent.js '<behaviour>'`. Each request says how it is to be
// answered: `initialize` in the behaviour, the others in `_meta.chaos`, a prompt as JSON in its text. So the test knows
// what was said. `plan.js` has what may be asked for.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');

const behaviour = JSON.parse(process.argv[2] ?? '{}');
/** @type {Map<string, (message: any) => void>} */
const waiting = new Map();
/** Sessions whose turn was cancelled. @type {Set<string>} */
const cancelled = new Set();
let sessions = 0;
let requests = 0;

/** Blocks while the pipe is full, as a simple agent does. @param {string | Buffer} data */
function write(data) {
  const bytes = Buffer.from(data);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (/** @type {any} */ (error).code !== 'EAGAIN') return;
    }
  }
}

/** @param {object} message */
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** @param {string} sessionId @param {object} update */
const update = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } });

/**
 * @param {string} method
 * @param {object} params
 * @returns {Promise<any>}
 */
function request(method, params) {
  const id = `a${(requests += 1)}`;
  const answer = new Promise((resolve) => waiting.set(id, resolve));
  send({ id, method, params });
  return answer;
}

/** @param {string} text */
const chunk = (text) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

/**
 * What a step does. Each gets the session, the step, and what its turn keeps.
 *
 * @type {Record<string, (sessionId: string, step: any, turn: any) => any>}
 */
const steps = {
  say(sessionId, { n = 1, split }, turn) {
    for (let i = 0; i < n; i++) {
      const line = JSON.stringify({
        jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: chunk(`${turn.tag}:${turn.said++} `) },
      });
      if (split === undefined) write(`${line}\n`);
      else for (const part of [line.slice(0, split), line.slice(split), '\n']) write(part);
    }
  },
  /** One write of many lines. */
  flood(sessionId, { n }, turn) {
    let lines = '';
    for (let i = 0; i < n; i++) {
      const params = { sessionId, update: chunk(`${turn.tag}:${turn.said++} `) };
      lines += `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`;
    }
    write(lines);
  },
  update: (sessionId, step) => update(step.sessionId ?? sessionId, step.update),
  raw: (_, { text, base64 }) => write(base64 === undefined ? text : Buffer.from(base64, 'base64')),
  long: (_, { n, end = '\n' }) => write(`${'x'.repeat(n)}${end}`),
  stderr: (_, { text }) => void fs.writeSync(2, text),
  sleep: (_, { ms }) => sleep(ms),
  close(_, { fd }) {
    if (fd === 0) process.stdin.destroy();
    else fs.closeSync(fd);
  },
  exit: (_, { code }) => process.exit(code),
  async kill(_, { signal }) {
    process.kill(process.pid, signal);
    await sleep(1000);
  },
  /** A descendant, perhaps in a session of its own, perhaps with the agent's pipes. */
  spawn(_, { detached, hold, deaf }) {
    const stdio = hold ? 'inherit' : 'ignore';
    const child = spawn('sh', ['-c', `${deaf ? 'trap "" TERM HUP INT; ' : ''}sleep 60; :`], { detached, stdio });
    child.on('error', () => {});
    child.unref();
  },
  async ask(sessionId, { method, params, wait }) {
    const answer = request(method, { sessionId, ...params });
    if (wait) await answer;
  },
  async terminal(sessionId, { command, end }) {
    const created = await request('terminal/create', { sessionId, command: 'sh', args: ['-c', command] });
    const terminalId = created.result?.terminalId;
    if (terminalId === undefined) return;
    for (const method of end) await request(`terminal/${method}`, { sessionId, terminalId });
  },
  notify: (_, { method, params }) => send({ method, params }),
};

/** @param {any} message @param {any} params */
async function prompt({ id }, { sessionId, prompt: blocks }) {
  const { tag, script, answer, deaf } = JSON.parse(blocks[0].text);
  const turn = { tag, said: 0 };
  cancelled.delete(sessionId);
  for (const step of script) {
    if (cancelled.has(sessionId) && !deaf) break;
    await steps[step.do](sessionId, step, turn);
  }
  const stopReason = cancelled.has(sessionId) ? 'cancelled' : 'end_turn';
  await answerAs(answer, id, { stopReason, _meta: { said: turn.said } }, sessionId);
}

/**
 * @param {any} how
 * @param {any} id
 * @param {object} result
 * @param {string} [sessionId]
 */
async function answerAs(how, id, result, sessionId) {
  const { as = 'plain', ms = 0 } = how ?? {};
  if (ms > 0) await sleep(ms);
  switch (as) {
    case 'never':
      return;
    case 'error':
      return send({ id, error: { code: how.code ?? -32603, message: 'chaos', data: { why: 'asked for' } } });
    case 'twice':
      send({ id, result });
      return send({ id, result });
    case 'other':
      send({ id: 'nobody', result });
      return send({ id: 987654, result });
    case 'nonsense':
      return send({ id, result: how.result ?? 7 });
    case 'both':
      return send({ id, result, error: { code: 1, message: 'both' } });
    case 'late':
      send({ id, result });
      return update(sessionId ?? 'none', chunk('late '));
    case 'exit':
      send({ id, result });
      return process.exit(how.code ?? 0);
    default:
      return send({ id, result });
  }
}

/** What a session says at its opening. @param {string} sessionId @param {any} chaos */
function opening(sessionId, chaos) {
  for (let i = 0; i < (chaos?.history ?? 0); i++) update(sessionId, chunk(`history${i} `));
}

const MODES = { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] };
const OPTIONS = [{
  id: 'model', category: 'model', name: 'Model', type: 'select', currentValue: 'x',
  options: [{ value: 'x', name: 'X' }, { value: 'y', name: 'Y' }],
}];

/** @param {any} message */
async function serve(message) {
  const { id, method, params } = message;
  if (method === undefined) {
    waiting.get(id)?.(message);
    waiting.delete(id);
    return;
  }
  const chaos = params?._meta?.chaos;
  switch (method) {
    case 'initialize': {
      const { capabilities = {}, initialize, before = [], after = [] } = behaviour;
      for (const step of before) await steps[step.do]('none', step, { tag: 'none', said: 0 });
      await answerAs(initialize, id, { protocolVersion: 1, agentCapabilities: capabilities, authMethods: [] });
      for (const step of after) await steps[step.do]('none', step, { tag: 'none', said: 0 });
      return;
    }
    case 'session/new':
    case 'session/fork':
    case 'session/load':
    case 'session/resume': {
      const opens = method === 'session/new' || method === 'session/fork';
      const sessionId = opens ? `s${(sessions += 1)}` : params.sessionId;
      if (method === 'session/load' || chaos?.early) opening(sessionId, chaos);
      await answerAs(chaos?.answer, id, { ...(opens && { sessionId }), modes: MODES, configOptions: OPTIONS });
      return;
    }
    case 'session/prompt':
      return prompt(message, params);
    case 'session/cancel':
      cancelled.add(params.sessionId);
      return;
    case 'session/set_config_option':
      return answerAs(chaos?.answer, id, { configOptions: OPTIONS });
    case 'session/list':
      return answerAs(chaos?.answer, id, { sessions: [{ sessionId: 's1', cwd: '/' }] });
    default:
      if (id !== undefined) await answerAs(chaos?.answer, id, {});
  }
}

if (behaviour.deaf) for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
for (const step of behaviour.start ?? []) void steps[step.do]('none', step, { tag: 'none', said: 0 });
// An agent that does not leave at the end of its input.
if (behaviour.stays) setInterval(() => {}, 1000);
process.stdin.on('error', () => {});
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  serve(JSON.parse(line)).catch(() => {});
});
