'use strict';

/**
 * Drives an ACP agent for an engine.
 *
 * @typedef {import('../../types/fusion').AgentRuntimeOptions} AgentRuntimeOptions
 * @typedef {import('../../types/plugin').AcpCliSettings} AcpCliSettings
 * @typedef {import('./presets').RuntimeSettings} RuntimeSettings
 */

const native = require('../native');
const { AcpError } = require('../errors.js');
const { AgentSession, ABORT_GRACE_MS } = require('./agent-session.js');
const { resolveCliSettings } = require('./cli-settings.js');
const { connectionOf } = require('./connection.js');
const { decideToolCall } = require('./control-handler.js');
const { decideWrite } = require('./fs-handlers.js');
const { launchOptions, mcpServersFor, presetMeta } = require('./launch.js');
const { DEFAULT_MODEL, agentModel, resolveRuntimeSettings, withPreset } = require('./presets.js');
const { buildPromptBlocks, extractPromptImagesFromOptions } = require('./prompt-builder.js');
const { applySelection } = require('./session-options.js');
const { placeSystemPrompt } = require('./system-prompt.js');
const { startFusionToolBridge } = require('./tool-bridge.js');
const { describeAcpTurnError, turnError } = require('./turn-errors.js');

const NO_CONNECTION = 'ACP session has no live connection (createSession not completed)';
const FALLBACK_MODEL = 'acp';

class AcpRuntimeAdapter {
  /** @param {Record<string, unknown>} [settings] */
  constructor(settings) {
    /** @type {AcpCliSettings} */
    this.cli = resolveCliSettings(withPreset(settings));
    /** @type {RuntimeSettings} */
    this.runtime = resolveRuntimeSettings(settings);
    this.id = this.runtime.preset.id;
    this.name = this.runtime.preset.name;
    this.createSession = this.createSession.bind(this);
    this.promptWithFallback = this.promptWithFallback.bind(this);
  }

  /**
   * @param {AgentRuntimeOptions} options
   * @returns {Promise<import('../../types/fusion').AgentSessionResult<any>>}
   */
  async createSession(options) {
    const session = new AgentSession({
      options, runtimeId: this.id, model: this.modelLabel(options), prompt: this.promptWithFallback,
    });
    try {
      await this.start(session, options);
    } catch (error) {
      session.dispose();
      if (!this.runtime.resolveNeverReject) throw error;
      const { label, preset: { startHint } } = this.runtime;
      const reason = describeAcpTurnError(error);
      this.tell(session, `${label} ACP failed to start: ${reason}${startHint === undefined ? '' : ` (${startHint})`}`);
    }
    return { session };
  }

  /**
   * What the session calls its model. A preset's agents are told apart by the model's own name.
   *
   * @param {AgentRuntimeOptions} options
   * @returns {string}
   */
  modelLabel({ defaultModelId }) {
    const { preset } = this.runtime;
    const wanted = this.cli.model ?? defaultModelId;
    if (preset.modelPrefixes === undefined) return wanted ?? FALLBACK_MODEL;
    return agentModel(preset, wanted) ?? DEFAULT_MODEL;
  }

  /**
   * @param {AgentSession} session
   * @param {AgentRuntimeOptions} options
   */
  async start(session, options) {
    const { cli, runtime } = this;
    const model = agentModel(runtime.preset, cli.model ?? options.defaultModelId);
    const launch = this.launchOptions({ cwd: options.cwd, taskEnv: options.taskEnv, model });
    await /** @type {any} */ (options).beforeSpawnSession?.();
    const readOnly = options.tools === 'readonly';
    launch.offers.writeTextFile &&= !readOnly;
    const client = await native.launch(launch, handlersFor(session, cli, readOnly));
    session.connection = connectionOf(client);
    const { agentCapabilities } = client.facts;

    const bridge = await this.startToolBridge(session, options.customTools);
    const { mcpServers, notices } = mcpServersFor(runtime.preset, options.mcpServers, agentCapabilities);
    session.notices.push(...notices);
    const place = placeSystemPrompt(session.systemPrompt, runtime, agentCapabilities);
    const meta = { ...presetMeta(runtime, bridge), ...options.sessionMeta, ...place.meta };
    const opened = await client.open('session/new', undefined, {
      cwd: options.cwd,
      mcpServers: bridge === null ? mcpServers : [...mcpServers, bridge.mcpServer],
      systemPrompt: place.systemPrompt,
      _meta: Object.keys(meta).length > 0 ? meta : undefined,
      timeoutMs: runtime.timeouts.session,
    }, { callbacks: true }, listenerFor(session));

    session.sessionId = opened.id;
    session.resetTurn = () => {};
    session.connection.conn.sessions.set(opened.id, opened);
    Object.assign(session, { live: opened, leadingText: place.text });
    const byArgv = launch.model !== undefined;
    const wanted = { model: byArgv ? undefined : model, thinkingLevel: options.defaultThinkingLevel };
    session.notices.push(...await applySelection(opened, wanted));
  }

  /**
   * @param {{ cwd: string, taskEnv?: Record<string, string | undefined>, model?: string }} values
   * @returns {Record<string, any>}
   */
  launchOptions(values) {
    return launchOptions(this.cli, this.runtime, values);
  }

  /**
   * A session works without the engine's tools, too; that they are missing is said and recorded.
   *
   * @param {AgentSession} session
   * @param {unknown} customTools
   */
  async startToolBridge(session, customTools) {
    if (!Array.isArray(customTools) || customTools.length === 0) return null;
    try {
      const bridge = await startFusionToolBridge(customTools);
      if (bridge !== null) session.disposeBridge = bridge.dispose;
      return bridge;
    } catch (error) {
      const missing = /** @type {any} */ (error)?.code === 'mcp-schema-server-missing';
      const reasonCode = missing ? 'mcp-schema-server-missing' : 'bridge-start-failed';
      session.fusionToolBridgeError = { reasonCode };
      session.text(`FUSION_TOOL_BRIDGE_FAILED: ${reasonCode}`);
      return null;
    }
  }

  /**
   * @param {any} session
   * @param {string} prompt
   * @param {unknown} [options]
   * @returns {Promise<import('../../types/fusion').AgentPromptResult>}
   */
  async promptWithFallback(session, prompt, options) {
    const { live } = session;
    if (live === undefined) {
      const why = session.state?.errorMessage;
      if (!this.runtime.resolveNeverReject || why === undefined) throw new AcpError('session_unusable', NO_CONNECTION);
      this.tell(session, `${this.runtime.label} ACP session has no live connection: ${why}`);
      return { stopReason: 'error' };
    }
    session.state.errorMessage = undefined;
    const blocks = buildPromptBlocks(prompt, { images: this.imagesFor(session, options) });
    if (session.leadingText !== undefined) blocks.unshift({ type: 'text', text: session.leadingText });
    session.remember('user', prompt);
    const { prompt: timeoutMs, idle: idleTimeoutMs } = this.runtime.timeouts;
    try {
      const outcome = await live.prompt(blocks, { timeoutMs, idleTimeoutMs });
      session.leadingText = undefined;
      return this.finish(session, outcome);
    } catch (error) {
      if (/** @type {any} */ (error)?.promptMayHaveBeenSent === true) session.leadingText = undefined;
      return this.failTurn(session, turnError(error, this.runtime.stallHint));
    }
  }

  /**
   * @param {any} session
   * @param {unknown} options
   */
  imagesFor(session, options) {
    const images = extractPromptImagesFromOptions(options);
    if (images === undefined || session.connection.agentCapabilities?.promptCapabilities?.image === true) return images;
    session.notices.push(`${images.length} image(s) were left out: the agent takes none`);
    return undefined;
  }

  /**
   * @param {any} session
   * @param {any} outcome
   */
  finish(session, outcome) {
    const { stopReason, text = '', textTruncated, usage } = outcome;
    session.remember('assistant', text);
    session.usage = usageOf(usage) ?? session.usage;
    const abnormal = stopReason !== undefined && stopReason !== null && stopReason !== 'end_turn';
    if (this.runtime.resolveNeverReject && abnormal && text === '') {
      this.tell(session, `${this.runtime.label} ACP ended with stopReason ${stopReason} and produced no assistant text.`);
    }
    return {
      ...(typeof stopReason === 'string' ? { stopReason } : {}),
      ...(textTruncated === true ? { truncated: textTruncated } : {}),
    };
  }

  /**
   * @param {any} session
   * @param {Error} error
   */
  failTurn(session, error) {
    session.state.errorMessage = error.message;
    const partial = /** @type {any} */ (error).partialText ?? '';
    session.remember('assistant', partial);
    if (!this.runtime.resolveNeverReject) throw error;
    const told = error.message.replace(/^ACP turn failed: /, '');
    this.tell(session, `${this.runtime.label} ACP turn failed: ${told}`);
    return { stopReason: 'error' };
  }

  /**
   * Puts a failure where a host that is never rejected looks for it: its state, its text, its history.
   *
   * @param {any} session
   * @param {string} message
   */
  tell(session, message) {
    session.state.errorMessage = message;
    session.text(message);
    session.remember('assistant', message);
  }

  /**
   * @param {any} session
   * @returns {string}
   */
  describeModel(session) {
    return session?.lastModelDescription || FALLBACK_MODEL;
  }

  /**
   * @param {any} session
   * @returns {Promise<void>}
   */
  async dispose(session) {
    try {
      if (session.ending === undefined) await session.live?.cancel(ABORT_GRACE_MS);
    } catch {
      // The agent is about to be killed.
    } finally {
      session.dispose();
      await session.disposePromise;
    }
  }
}

/**
 * @param {AgentSession} session
 * @returns {import('../native/client').Listener}
 */
function listenerFor(session) {
  return {
    text: (delta) => session.text(delta),
    thinking: (delta) => session.thinking(delta),
    toolStart: (name, args) => session.toolStart(name, args),
    toolEnd: (name, isError, result) => session.toolEnd(name, isError, result),
  };
}

/**
 * @param {AgentSession} session
 * @param {AcpCliSettings} cli
 * @param {boolean} readOnly the engine asked for a session that changes nothing
 * @returns {import('../native/questions').Handlers}
 */
function handlersFor(session, { allowUnrestricted }, readOnly) {
  return {
    async permission({ toolCall }, signal) {
      const gate = readOnly ? readingOnly(session.gate) : session.gate;
      return { decision: await decideToolCall(toolCall, gate, { allowUnrestricted, signal }) };
    },
    async write({ path }, signal) {
      return !readOnly && (await decideWrite(path, session.gate, { allowUnrestricted, signal })) === 'allow';
    },
    extension: () => ({}),
    notification: () => {},
  };
}

/**
 * A gate under which whatever is not exempt is blocked.
 *
 * @param {import('../../types/fusion').PermissionGate | undefined} gate
 * @returns {import('../../types/fusion').PermissionGate | undefined}
 */
function readingOnly(gate) {
  if (!gate?.permissionPolicy) return undefined;
  const block = /** @type {const} */ ('block');
  return { permissionPolicy: { rules: { file_write_delete: block, command_execution: block, network_api: block } } };
}

/**
 * The numbers of a usage report that are numbers of tokens.
 *
 * @param {any} usage
 * @returns {Record<string, number> | undefined}
 */
function usageOf(usage) {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const counts = Object.entries(usage).filter(([, value]) => typeof value === 'number' && Number.isFinite(value) && value >= 0);
  return counts.length > 0 ? Object.fromEntries(counts) : undefined;
}

module.exports = { AcpRuntimeAdapter };
