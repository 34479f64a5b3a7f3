'use strict';

/**
 * One-shot asks. With this package's own adapter the whole ask runs natively; with any other runtime it goes through the
 * runtime's contract.
 *
 * @typedef {import('../../types/ask').AskAcpOnceOptions} AskAcpOnceOptions
 * @typedef {import('../../types/ask').AskAcpOnceResult} AskAcpOnceResult
 * @typedef {import('../../types/ask').AskFailureReason} AskFailureReason
 */

const binding = require('../../binding.js');
const native = require('../native');
const { AcpError, fromNative } = require('../errors.js');
const { invalid, string, whole } = require('../native/options.js');
const { agentModel } = require('./presets.js');
const { buildPromptBlocks } = require('./prompt-builder.js');
const { AcpRuntimeAdapter } = require('./runtime-adapter.js');
const { placeSystemPrompt } = require('./system-prompt.js');
const { turnError } = require('./turn-errors.js');

/**
 * @param {string} output
 * @returns {any[]}
 */
function extractJsonObjects(output) {
  if (typeof output !== 'string') return [];
  return binding.extractJsonTexts(output).map((text) => JSON.parse(text));
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {AskFailureReason} reason
 * @param {string} message
 * @param {{ text?: string, stopReason?: string, error?: unknown }} [rest]
 * @returns {AskAcpOnceResult}
 */
function failure(reason, message, { text, stopReason, error } = {}) {
  /** @type {import('../../types/ask').AskFailure} */
  const failed = {
    ok: false,
    reason,
    message,
    ...(text === undefined || text === '' ? {} : { text }),
    ...(stopReason === undefined ? {} : { stopReason }),
  };
  // Not enumerable: callers compare and store the object as the contract has it.
  if (error !== undefined) Object.defineProperty(failed, 'error', { value: error });
  return failed;
}

/**
 * @param {{ text: string, parsed?: unknown, stopReason?: string, truncated?: boolean }} answer
 * @returns {AskAcpOnceResult}
 */
function success({ text, parsed, stopReason, truncated }) {
  return {
    ok: true,
    text,
    ...(parsed === undefined ? {} : { parsed }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(truncated === true ? { truncated } : {}),
  };
}

/**
 * Whether the adapter is this package's, as it is.
 *
 * @param {any} runtime
 * @returns {runtime is AcpRuntimeAdapter}
 */
function isOwn(runtime) {
  if (!(runtime instanceof AcpRuntimeAdapter)) return false;
  const proto = AcpRuntimeAdapter.prototype;
  return Object.getPrototypeOf(runtime) === proto && runtime.dispose === proto.dispose;
}

/**
 * @param {AcpRuntimeAdapter} adapter
 * @param {AskAcpOnceOptions} options
 * @returns {Promise<AskAcpOnceResult | undefined>} `undefined`: this ask needs what only a session can do
 */
async function askNatively(adapter, options) {
  const { cli, runtime } = adapter;
  const model = agentModel(runtime.preset, cli.model ?? options.model);
  const place = placeSystemPrompt(options.systemPrompt, runtime, undefined);
  let launch;
  try {
    launch = adapter.launchOptions({ cwd: options.cwd, model });
  } catch (error) {
    return failure('create_session_failed', messageOf(error), { error });
  }
  // A model that is chosen in the session, and a field that only some agents have, need the agent's word first.
  if (model !== undefined && launch.model === undefined) return undefined;
  if (place.text !== undefined && runtime.systemPromptVia === 'field') return undefined;
  const blocks = buildPromptBlocks(options.prompt);
  if (place.text !== undefined) blocks.unshift({ type: 'text', text: place.text });
  let answer;
  try {
    answer = await native.ask({
      launch: native.launchOptions(launch),
      session: { cwd: options.cwd, mcpServers: [], _meta: place.meta },
      sessionTimeoutMs: runtime.timeouts.session,
      prompt: blocks,
      turn: native.turnOptions({
        timeoutMs: shorter(options.timeoutMs, runtime.timeouts.prompt), idleTimeoutMs: runtime.timeouts.idle,
      }),
      recoverJson: options.recoverJson === true,
      close: { graceMs: 0 },
    });
  } catch (error) {
    return failure('create_session_failed', messageOf(error), { error });
  }
  if (answer.ok) return success(answer);
  const error = fromNative(answer.error, { command: cli.binaryPath, nodeSpawnErrors: true });
  const isTurn = answer.reason === 'turn_failed';
  const isStart = answer.reason === 'create_session_failed';
  const hint = error.code === 'turn_stalled' && runtime.stallHint !== undefined ? ` (${runtime.stallHint})` : '';
  const message = isTurn ? turnError(error).message : isStart ? error.message : `${answer.message}${hint}`;
  return failure(answer.reason, message, { text: answer.text, stopReason: answer.stopReason, error });
}

/**
 * Whether a caller's limit is one.
 *
 * @param {number | undefined} ms
 * @returns {ms is number}
 */
function isLimit(ms) {
  return typeof ms === 'number' && ms > 0 && Number.isFinite(ms);
}

/**
 * @param {number | undefined} asked
 * @param {number} configured 0 for none
 * @returns {number} milliseconds, 0 for none
 */
function shorter(asked, configured) {
  const limits = [asked, configured].filter(isLimit);
  return limits.length === 0 ? 0 : Math.min(...limits);
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number | undefined} ms
 * @returns {Promise<{ value: T } | 'timeout'>}
 */
async function within(promise, ms) {
  if (!isLimit(ms)) return { value: await promise };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<'timeout'>} */
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1), 'timeout');
  });
  // What fails after the time is up is nobody's concern any more.
  promise.catch(() => {});
  try {
    return await Promise.race([promise.then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {any} runtime
 * @param {AskAcpOnceOptions} options
 * @returns {Promise<AskAcpOnceResult>}
 */
async function askThroughContract(runtime, options) {
  let text = '';
  let session;
  try {
    ({ session } = await runtime.createSession({
      cwd: options.cwd,
      systemPrompt: options.systemPrompt ?? '',
      tools: 'readonly',
      defaultModelId: options.model,
      runtimeContext: { sessionPurpose: 'cli-agent-ask', toolMode: 'readonly' },
      onText: (/** @type {string} */ delta) => {
        text += delta;
      },
    }));
  } catch (error) {
    return failure('create_session_failed', messageOf(error), { error });
  }
  try {
    const turn = Promise.resolve(runtime.promptWithFallback(session, options.prompt));
    const outcome = await within(turn, options.timeoutMs);
    if (outcome === 'timeout') {
      const message = `ACP prompt timed out after ${options.timeoutMs}ms`;
      return failure('timeout', message, { text, error: promptError('timeout', message, text, session) });
    }
    const { stopReason, truncated } = outcome.value ?? {};
    if (stopReason !== undefined && stopReason !== 'end_turn') {
      const message = `ACP prompt ended with stopReason=${stopReason}`;
      const error = promptError('abnormal_stop', message, text, session);
      return failure('abnormal_stop', message, { text, stopReason, error });
    }
    const notice = signInNotice(text, session);
    if (notice !== undefined) {
      const error = promptError('sign_in_required', notice, text, session);
      return failure('turn_failed', notice, { text, stopReason, error });
    }
    // What a cut answer ends with is not known, so nothing is taken for its last word.
    const parsed = options.recoverJson === true && truncated !== true ? extractJsonObjects(text).at(-1) : undefined;
    return success({ text, parsed, stopReason, truncated });
  } catch (error) {
    const reason = isTimeout(error) ? 'timeout' : 'turn_failed';
    return failure(reason, messageOf(error), { text, error });
  } finally {
    await disposeOnce(runtime, session);
  }
}

/**
 * @param {import('../../types/errors').AcpErrorCode} code
 * @param {string} message
 * @param {string} text what had arrived
 * @param {any} session of this package's adapter, or of another
 */
function promptError(code, message, text, session) {
  const said = session?.connection?.stderr;
  const stderrTail = typeof said === 'function' ? said() : '';
  return new AcpError(code, message, {
    phase: 'prompt',
    promptMayHaveBeenSent: true,
    ...(text !== '' && { partialText: text }),
    ...(typeof stderrTail === 'string' && stderrTail.trim() !== '' && { stderrTail }),
  });
}

/**
 * What to tell of a reply that is nothing but a notice to sign in.
 *
 * @param {string} reply
 * @param {any} session
 * @returns {string | undefined}
 */
function signInNotice(reply, session) {
  const offered = session?.connection?.authMethods;
  const ids = Array.isArray(offered) ? offered.map((method) => method?.id).filter((id) => typeof id === 'string') : [];
  return binding.signInNotice(reply, ids) ?? undefined;
}

/** @param {unknown} reply */
function isSignInNotice(reply) {
  return typeof reply === 'string' && binding.signInNotice(reply, []) !== null;
}

/**
 * Whether a turn of this package's adapter exceeded a limit of its settings.
 *
 * @param {any} error
 */
function isTimeout(error) {
  return error instanceof AcpError && ['timeout', 'turn_stalled'].includes(error.code);
}

/**
 * @param {any} runtime
 * @param {any} session
 */
async function disposeOnce(runtime, session) {
  try {
    if (typeof runtime.dispose === 'function') await runtime.dispose(session);
    else await session?.dispose?.();
  } catch {
    // The answer stands, whatever became of the session.
  }
}

/**
 * A caller's mistake, found before anything is started.
 *
 * @param {any} runtime
 * @param {any} options
 */
function check(runtime, options) {
  if (typeof runtime?.createSession !== 'function') throw invalid('runtime must be an agent runtime');
  if (options === null || typeof options !== 'object') throw invalid('an ask needs an options object');
  string(options.prompt, 'prompt');
  string(options.cwd, 'cwd');
  for (const name of ['model', 'systemPrompt']) {
    if (options[name] !== undefined && options[name] !== null) string(options[name], name);
  }
  whole(options.timeoutMs, 'timeoutMs');
}

/**
 * @param {any} runtime
 * @param {AskAcpOnceOptions} options
 * @returns {Promise<AskAcpOnceResult>}
 */
async function askAcpOnce(runtime, options) {
  try {
    check(runtime, options);
    return await answerOf(runtime, options);
  } catch (error) {
    return failure('create_session_failed', messageOf(error), { error });
  }
}

/**
 * @param {any} runtime
 * @param {AskAcpOnceOptions} options
 * @returns {Promise<AskAcpOnceResult>}
 */
async function answerOf(runtime, options) {
  const answer = isOwn(runtime) ? await askNatively(runtime, options) : undefined;
  return answer ?? askThroughContract(runtime, options);
}

module.exports = { askAcpOnce, extractJsonObjects, isSignInNotice };
