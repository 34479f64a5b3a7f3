'use strict';

/** Starts `host.js`, a Node process of its own that drives the agent, and talks to it over IPC. */

const path = require('node:path');
const { fork } = require('node:child_process');

/**
 * @param {import('./case.js').Case} test
 * @param {{ mode: 'ask' | 'session' | 'setup' | 'validate' | 'hold', prompt?: string, [more: string]: unknown }} task
 * @param {NodeJS.ProcessEnv} [env] the host's environment; this process's own when absent
 */
function startHost(test, task, env = process.env) {
  const child = fork(path.join(__dirname, 'host.js'), [], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  /** @type {any[]} */
  const inbox = [];
  /** @type {((message: any) => void)[]} */
  const waiting = [];
  const host = {
    over: false,
    stderr: '',
    /** The next message from the host. @returns {Promise<any>} */
    message: () =>
      new Promise((resolve, reject) => {
        if (inbox.length > 0) return resolve(inbox.shift());
        waiting.push(resolve);
        child.once('exit', (code, signal) => {
          reject(new Error(`the host ended with ${signal ?? code}: ${host.stderr.slice(-300)}`));
        });
      }),
    exited: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
    send: (/** @type {string} */ message) => child.send(message),
    kill: () => child.kill('SIGKILL'),
  };
  child.once('exit', () => (host.over = true));
  child.stderr?.on('data', (data) => (host.stderr = (host.stderr + data).slice(-4_000)));
  child.on('message', (message) => {
    const take = waiting.shift();
    if (take) take(message);
    else inbox.push(message);
  });
  child.send({
    ...task,
    client: test.clientPath,
    launch: test.launchOptions,
    afterNew: test.row.afterNew ?? [],
    settings: test.row.settings,
  });
  return host;
}

/**
 * What a host says of its task. The host is over when this resolves.
 *
 * @param {import('./case.js').Case} test
 * @param {Parameters<typeof startHost>[1]} task
 * @param {NodeJS.ProcessEnv} [env] the agent's environment when absent
 */
async function hostAnswer(test, task, env = test.scratch.env) {
  const host = startHost(test, task, env);
  try {
    const answer = await test.within(host.message(), `the host's ${task.mode}`);
    await test.within(host.exited, 'the end of the host');
    return answer;
  } finally {
    host.kill();
  }
}

module.exports = { hostAnswer, startHost };
