'use strict';

/**
 * The permission floor. What a call is and which option may be chosen is the native side's; asking a person is the host's
 * closures, so it is plain promises here.
 *
 * Hosts observe when their closures run: between a call of `resolvePermission` and the pause for the approval there are
 * two awaits and no more (`findApprovalByDedupeKey`, `createApprovalRequest`).
 *
 * @typedef {import('../../types/fusion').PermissionGate} PermissionGate
 * @typedef {import('../../types/fusion').FusionCategory} FusionCategory
 * @typedef {import('../../types/fusion').GateDisposition} GateDisposition
 * @typedef {import('../../types/fusion').ResolvePermissionOptions} ResolvePermissionOptions
 * @typedef {import('../../protocol').RequestPermissionResponse} RequestPermissionResponse
 */

const binding = require('../../binding.js');
const { isObject, normalizeToolArgs, stringOrAbsent, toolDisplayName } = require('./tool-mapping.js');
const { boundIdentifier } = require('./sanitize.js');
const { withSignal } = require('../native/abort.js');

const DENY = /** @type {const} */ ('deny');

/**
 * @param {string | null | undefined} kind
 * @returns {FusionCategory | 'exempt' | 'deny'}
 */
function classifyToolKind(kind) {
  return /** @type {any} */ (binding.classifyToolKind(stringOrAbsent(kind)));
}

/**
 * @param {'allow' | 'deny'} decision
 * @param {readonly import('../../protocol').PermissionOption[] | null | undefined} options
 * @returns {{ decision: 'allow' | 'deny', optionId?: string }}
 */
function selectOption(decision, options) {
  const offered = (Array.isArray(options) ? options : [])
    .filter((option) => isObject(option) && typeof option.optionId === 'string' && typeof option.kind === 'string')
    .map(({ optionId, kind }) => ({ optionId, kind }));
  const { allowed, index } = binding.chooseOption(decision === 'allow', offered);
  /** @type {{ decision: 'allow' | 'deny', optionId?: string }} */
  const chosen = { decision: allowed ? 'allow' : 'deny' };
  // An absent index arrives as undefined or null.
  if (typeof index === 'number') chosen.optionId = offered[index].optionId;
  return chosen;
}

/**
 * The policy's rule for a category. Only the policy's own rules count, whatever a category is called.
 *
 * @param {string} category
 * @param {PermissionGate | undefined} gate
 * @returns {string | undefined}
 */
function ruleFor(category, gate) {
  const rules = gate?.permissionPolicy?.rules;
  return isObject(rules) && Object.hasOwn(rules, category) ? stringOrAbsent(rules[category]) : undefined;
}

/**
 * @param {FusionCategory | 'exempt'} category
 * @param {PermissionGate} gate
 * @returns {GateDisposition}
 */
function dispositionFor(category, gate) {
  return /** @type {any} */ (binding.dispositionFor(category, ruleFor(category, gate)));
}

/**
 * @param {FusionCategory | 'exempt'} category
 * @param {PermissionGate} gate
 * @param {ResolvePermissionOptions} [options]
 * @returns {GateDisposition}
 */
function effectiveDisposition(category, gate, options = {}) {
  const unrestricted = options.allowUnrestricted === true;
  return /** @type {any} */ (binding.effectiveDisposition(category, ruleFor(category, gate), unrestricted));
}

/**
 * What is being asked for, by gate and key. The key is made of what the agent says; two questions of one key at the same
 * time would both be answered by one approval.
 *
 * @type {WeakMap<object, Map<string, Promise<'allow' | 'deny'>>>}
 */
const asking = new WeakMap();

/**
 * Asks a person; of one key, one question after the other. An approval counts once: it is marked as used before the call it
 * allows goes ahead, and one that cannot be marked is not used again.
 *
 * @param {PermissionGate} gate
 * @param {import('../../types/fusion').ApprovalQuestion} request
 * @returns {Promise<'allow' | 'deny'>}
 */
async function runApprovalForCategory(gate, request) {
  if (!isObject(gate)) return DENY;
  const { dedupeKey, signal } = request;
  const open = asking.get(gate) ?? new Map();
  asking.set(gate, open);
  while (open.has(dedupeKey) && !signal?.aborted) await unlessWithdrawn(open.get(dedupeKey), signal);
  if (signal?.aborted) return DENY;
  // A question that nobody waits for any more holds up none that come after it, even if a host never answers it.
  const answer = unlessWithdrawn(askForApproval(gate, request), signal);
  open.set(dedupeKey, answer);
  try {
    return await answer;
  } finally {
    open.delete(dedupeKey);
  }
}

/**
 * @param {Promise<'allow' | 'deny'>} answer
 * @param {import('../../types/host').AbortSignalLike | undefined} signal
 * @returns {Promise<'allow' | 'deny'>}
 */
function unlessWithdrawn(answer, signal) {
  return withSignal(signal, () => answer, () => {}).catch(() => DENY);
}

/**
 * @param {PermissionGate} gate
 * @param {import('../../types/fusion').ApprovalQuestion} request
 * @returns {Promise<'allow' | 'deny'>} Never rejects.
 */
async function askForApproval(gate, { category, toolName, dedupeKey, args = {}, signal }) {
  try {
    if (typeof gate?.createApprovalRequest !== 'function') return DENY;
    const earlier = gate.findApprovalByDedupeKey ? await gate.findApprovalByDedupeKey(dedupeKey) : undefined;
    if (earlier?.status === 'denied') return DENY;
    if (earlier?.status === 'approved' && gate.markApprovalCompleted) {
      await gate.markApprovalCompleted(earlier.id);
      return 'allow';
    }
    // Without both of these nobody could learn the outcome: do not leave a request that nobody waits for.
    if (!gate.pauseForApproval || !gate.findApprovalByDedupeKey) return DENY;
    /** @type {import('../../types/fusion').ApprovalDecision} */
    const decision = { disposition: 'require-approval', category, toolName, approvalDedupeKey: dedupeKey };
    const created = /** @type {any} */ (await gate.createApprovalRequest(decision, args));
    const createdId = created?.id;
    const approvalRequestId = typeof createdId === 'string' && createdId !== '' ? createdId : dedupeKey;
    await gate.pauseForApproval({ approvalRequestId, decision });
    // Not used up: who asks again may still get it.
    if (signal?.aborted) return DENY;
    const outcome = await gate.findApprovalByDedupeKey(dedupeKey);
    await gate.markApprovalCompleted?.(approvalRequestId);
    return outcome?.status === 'approved' ? 'allow' : DENY;
  } catch {
    return DENY;
  }
}

/**
 * @param {'allow' | 'deny'} decision
 * @param {readonly import('../../protocol').PermissionOption[]} options
 * @returns {RequestPermissionResponse}
 */
function response(decision, options) {
  const { optionId } = selectOption(decision, options);
  return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
}

/**
 * The decision on a tool call, without the choice of an option.
 *
 * @param {any} toolCall
 * @param {PermissionGate | undefined} gate
 * @param {ResolvePermissionOptions} [options]
 * @returns {Promise<'allow' | 'deny'>}
 */
async function decideToolCall(toolCall, gate, options) {
  // Without a policy nothing is allowed, not even reading.
  if (!gate?.permissionPolicy) return DENY;
  const category = classifyToolKind(toolCall?.kind);
  if (category === DENY) return DENY;
  const disposition = effectiveDisposition(category, gate, options);
  if (disposition === 'allow') return 'allow';
  if (disposition !== 'require-approval' || category === 'exempt') return DENY;
  const title = typeof toolCall.title === 'string' ? toolCall.title : '';
  return runApprovalForCategory(gate, {
    category,
    toolName: toolDisplayName(toolCall),
    dedupeKey: `${boundIdentifier(toolCall.toolCallId)}|${category}|${title}`,
    args: normalizeToolArgs(toolCall.rawInput),
    signal: options?.signal,
  });
}

/**
 * @param {import('../../protocol').ToolCallUpdate} toolCall
 * @param {readonly import('../../protocol').PermissionOption[]} options
 * @param {PermissionGate | undefined} gate
 * @param {ResolvePermissionOptions} [permissionOptions]
 * @returns {Promise<RequestPermissionResponse>}
 */
async function resolvePermission(toolCall, options, gate, permissionOptions) {
  try {
    return response(await decideToolCall(toolCall, gate, permissionOptions), options);
  } catch {
    return response(DENY, options);
  }
}

module.exports = {
  DENY,
  classifyToolKind,
  selectOption,
  dispositionFor,
  effectiveDisposition,
  runApprovalForCategory,
  decideToolCall,
  resolvePermission,
};
