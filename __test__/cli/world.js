'use strict';

const { EventEmitter } = require('node:events');
const { Readable, Writable } = require('node:stream');

const { main } = require('../../lib/cli');

/** A stream that keeps what is written to it. @param {boolean} isTTY */
function sink(isTTY) {
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        stream.text += chunk;
        done();
      },
    }),
    { isTTY, text: '' },
  );
  return stream;
}

/**
 * An agent that never was: what the API would say of it.
 *
 * @param {object} [script]
 * @param {any[]} [script.events] The turn's events.
 * @param {any} [script.result] What the turn resolves with.
 * @param {any} [script.turnError] What it rejects with instead.
 * @param {any} [script.launchError] What launching rejects with.
 * @param {any} [script.capabilities]
 * @param {any} [script.status] What a probe says.
 * @param {(seen: any) => any} [script.during] Awaited in the middle of the turn.
 */
function fakeApi(script = {}) {
  /** @type {any} What the command line did with the API. */
  const seen = { closed: 0, killed: 0, prompts: [] };
  const text = (script.events ?? []).map(({ content }) => content?.text ?? '').join('');
  const result = { stopReason: 'end_turn', text, cancelRequested: false, ...script.result };
  const api = {
    seen,
    AcpClient: {
      async launch(/** @type {any} */ options) {
        seen.launch = options;
        if (script.launchError) throw script.launchError;
        return {
          protocolVersion: 1,
          agentInfo: { name: 'fake', version: '1' },
          agentCapabilities: script.capabilities ?? {},
          async newSession(/** @type {any} */ session) {
            seen.session = session;
            return { id: 's1', prompt: (/** @type {any} */ ...args) => fakeTurn(script, seen, result, args) };
          },
          async close() {
            seen.closed++;
            return { exitCode: 0, signal: null };
          },
          kill() {
            seen.killed++;
          },
        };
      },
    },
    buildSpawnEnv(/** @type {string[]} */ names) {
      seen.envNames = names;
      return Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
    },
    extractJsonObjects: (/** @type {string} */ answer) =>
      answer.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : [])),
    isSignInNotice: (/** @type {string} */ answer) => /^not logged in/i.test(answer),
    stripControlSequences: (/** @type {string} */ text) => text,
    async probeAcpReadiness(/** @type {any} */ options) {
      seen.probe = options;
      return script.status;
    },
  };
  return api;
}

/** @param {any} script @param {any} seen @param {any} result @param {any[]} args */
function fakeTurn(script, seen, result, args) {
  seen.prompts.push(args);
  /** @type {(value: any) => void} */
  let finish;
  const done = new Promise((resolve) => {
    finish = resolve;
  }).then(() => {
    if (script.turnError) throw script.turnError;
    return seen.result ?? result;
  });
  done.catch(() => {});
  return {
    then: done.then.bind(done),
    async *[Symbol.asyncIterator]() {
      yield* script.events ?? [];
      await script.during?.(seen);
      finish(undefined);
    },
  };
}

/**
 * Runs the command line in a world of its own.
 *
 * @param {string[]} argv
 * @param {{ api?: any, tty?: boolean, input?: string, signals?: EventEmitter, stdout?: any }} [options]
 */
async function acp(argv, { api = fakeApi(), tty = false, input = '', signals = new EventEmitter(), stdout = sink(tty) } = {}) {
  const stderr = sink(tty);
  const code = await main({ argv, api: () => api, stdin: Readable.from([input]), stdout, stderr, signals });
  return { code, stdout: stdout.text, stderr: stderr.text, seen: api.seen, signals };
}

const says = (/** @type {string} */ text) => ({ type: 'agent_message_chunk', content: { type: 'text', text } });

module.exports = { acp, fakeApi, says, sink };
