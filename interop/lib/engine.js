'use strict';

/** A plugin host: the calls that the Fusion engine makes on a runtime plugin, in its order, and nothing else. */

const path = require('node:path');

/** What the engine looks for before it takes an object for a runtime. */
const RUNTIME_METHODS = ['createSession', 'promptWithFallback', 'describeModel'];

/**
 * The settings of an adapter that starts the launch's agent.
 *
 * @param {{ launch: any, settings?: Record<string, unknown> }} task `settings` stand for the launch where the row has some
 * @returns {Record<string, unknown>}
 */
function settingsOf({ launch, settings }) {
  return settings ?? {
    acpBinaryPath: launch.command,
    acpArgs: launch.args,
    acpEnvAllowList: Object.keys(launch.env),
  };
}

/** @param {unknown} condition @param {string} what */
function must(condition, what) {
  if (!condition) throw new Error(`the plugin host: ${what}`);
}

/**
 * Loads the plugin as its loader does.
 *
 * @param {string} client the package's directory
 * @param {Record<string, unknown>} settings
 */
async function load(client, settings) {
  const module = require(path.join(client, 'plugin.js'));
  const plugin = module.default ?? module.plugin;
  const { id, name, version } = plugin?.manifest ?? {};
  must([id, name, version].every((text) => typeof text === 'string' && text !== ''), 'the manifest is incomplete');
  /** @type {string[]} */
  const log = [];
  const line = (/** @type {string} */ level) => (/** @type {string} */ text) => log.push(`${level}: ${text}`);
  const logger = { info: line('info'), warn: line('warn'), error: line('error'), debug: line('debug') };
  const context = { pluginId: id, taskStore: {}, settings, logger, emitEvent: () => {} };
  await plugin.hooks.onLoad?.(context);
  must(log.some((text) => text.startsWith('info: ACP Runtime Plugin loaded')), 'the plugin says nothing when it is loaded');
  return { plugin, context };
}

/**
 * Runs the setup check as the loader does: within the time that the manifest names.
 *
 * @param {any} task
 */
async function setup({ client, ...task }) {
  const { plugin, context } = await load(client, settingsOf(task));
  const { manifest, hooks } = plugin.setup;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, manifest.defaultTimeoutMs, { status: 'error', error: 'the loader gave up' });
  });
  const result = await Promise.race([hooks.checkSetup(context), late]);
  clearTimeout(timer);
  return result;
}

/**
 * Load, create, prompt twice, dispose.
 *
 * @param {any} task
 */
async function session({ client, prompt, ...task }) {
  const { plugin, context } = await load(client, settingsOf(task));
  const runtime = await plugin.runtime.factory(context);
  must(runtime.id && runtime.name, 'the runtime has no name');
  for (const method of RUNTIME_METHODS) must(typeof runtime[method] === 'function', `the runtime has no ${method}`);
  const seen = { text: '', thinking: '', events: 0, subscribed: '', notices: /** @type {string[]} */ ([]) };
  const { session: opened } = await runtime.createSession({
    cwd: task.launch.cwd,
    systemPrompt: task.systemPrompt ?? '',
    tools: 'coding',
    sessionPurpose: 'executor',
    runtimeContext: { sessionPurpose: 'executor', toolMode: 'coding', customToolNames: ['fn_ping'] },
    customTools: [{ name: 'fn_ping', description: 'Answers.', parameters: { type: 'object', properties: {} }, execute: async () => 'pong' }],
    mcpServers: [],
    onText: (/** @type {string} */ delta) => (seen.text += delta),
    onThinking: (/** @type {string} */ delta) => (seen.thinking += delta),
    onToolStart: () => {},
    onToolEnd: () => {},
    actionGateContext: { permissionPolicy: { rules: {} } },
  });
  opened.promptWithFallback ??= (/** @type {string} */ text, /** @type {unknown} */ options) =>
    runtime.promptWithFallback(opened, text, options);
  opened.subscribe((/** @type {any} */ event) => {
    seen.events++;
    const message = event.assistantMessageEvent;
    if (message?.type === 'text_delta') seen.subscribed += message.delta;
  });
  const stopReasons = [];
  try {
    for (let turn = 0; turn < 2; turn++) {
      const result = await opened.promptWithFallback(prompt);
      const failure = opened.state?.errorMessage ?? opened.state?.error;
      if (failure) throw new Error(failure);
      stopReasons.push(result?.stopReason);
    }
  } finally {
    // The engine does not wait for it.
    opened.dispose();
  }
  seen.notices = opened.notices;
  must(opened.state.messages.length > 0, 'the session remembers nothing');
  await opened.disposePromise;
  return { ...seen, stopReasons, model: runtime.describeModel(opened) };
}

/**
 * The validator on the plugin's own runtime.
 *
 * @param {any} task
 */
async function validate({ client, prompt, systemPrompt, timeoutMs, ...task }) {
  const { plugin, context } = await load(client, settingsOf(task));
  const runtime = await plugin.runtime.factory(context);
  const { runCliAgentValidation } = require(client);
  return runCliAgentValidation(runtime, { prompt, systemPrompt, cwd: task.launch.cwd, timeoutMs });
}

/**
 * One ask; with `profile` by the bridge's own ask profile.
 *
 * @param {any} task
 */
async function ask({ client, prompt, timeoutMs, profile, more, ...task }) {
  const { AcpRuntimeAdapter, askAcpOnce, resolveClaudeBridgeAskSettings } = require(client);
  let settings = settingsOf(task);
  if (profile) {
    const { binaryPath, args, envAllowList, fsRead, fsWrite } = resolveClaudeBridgeAskSettings(settings);
    settings = { acpBinaryPath: binaryPath, acpArgs: args, acpEnvAllowList: envAllowList, acpFsRead: fsRead, acpFsWrite: fsWrite };
  }
  const runtime = new AcpRuntimeAdapter({ ...settings, ...more });
  const answer = await askAcpOnce(runtime, { prompt, cwd: task.launch.cwd, timeoutMs });
  return { ...answer, code: answer.error?.code };
}

module.exports = { ask, session, setup, validate };
