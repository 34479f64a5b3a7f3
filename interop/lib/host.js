'use strict';

/** A host of its own: asks once and says the answer, or holds a turn with a tool running until it is told to exit. */

const { takeSteps } = require('./driver.js');

/** @param {any} message */
const send = (message) => new Promise((resolve) => process.send?.(message, resolve));

/** @param {any} task */
async function askOnce({ client, launch, prompt }) {
  const { AcpRuntimeAdapter, askAcpOnce } = require(client);
  const runtime = new AcpRuntimeAdapter({
    acpBinaryPath: launch.command,
    acpArgs: launch.args,
    acpEnvAllowList: Object.keys(launch.env),
  });
  await send(await askAcpOnce(runtime, { prompt, cwd: launch.cwd, timeoutMs: 80_000 }));
  process.disconnect();
}

/** @param {any} task */
async function hold({ client, launch, afterNew, prompt }) {
  const { AcpClient } = require(client);
  const agent = await AcpClient.launch({ ...launch, onPermission: () => 'allow' });
  const session = await agent.newSession({ cwd: launch.cwd });
  await takeSteps(session, afterNew);
  const turn = session.prompt(prompt);
  Promise.resolve(turn).catch(() => {});
  await send('prompted');
}

process.once('message', (/** @type {any} */ task) => {
  process.on('message', (message) => message === 'exit' && process.exit(0));
  (task.mode === 'hold' ? hold(task) : askOnce(task)).catch((error) => {
    console.error(error);
    process.exit(1);
  });
});
