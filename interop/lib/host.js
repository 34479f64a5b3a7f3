'use strict';

/**
 * A host of its own: does what a plugin host does and says what came of it, or holds a turn with a tool running until it is
 * told to exit.
 */

const { takeSteps } = require('./driver.js');
const engine = require('./engine.js');

/** @param {any} message */
const send = (message) => new Promise((resolve) => process.send?.(message, resolve));

/** @param {any} task */
async function hold({ client, launch, afterNew, prompt }) {
  const { AcpClient } = require(client);
  // As patient as a case: many agents start slowly on a busy machine.
  const agent = await AcpClient.launch({ ...launch, initializeTimeoutMs: 90_000, onPermission: () => 'allow' });
  const session = await agent.newSession({ cwd: launch.cwd });
  await takeSteps(session, afterNew);
  const turn = session.prompt(prompt);
  Promise.resolve(turn).catch(() => {});
  await send('prompted');
}

/** @type {Record<string, (task: any) => Promise<any>>} */
const TASKS = engine;

/** @param {any} task */
async function once(task) {
  await send(await TASKS[task.mode](task));
  process.disconnect();
}

process.once('message', (/** @type {any} */ task) => {
  process.on('message', (message) => message === 'exit' && process.exit(0));
  (task.mode === 'hold' ? hold(task) : once(task)).catch((error) => {
    console.error(error);
    process.exit(1);
  });
});
