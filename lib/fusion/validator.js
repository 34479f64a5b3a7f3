'use strict';

/** The validator's verdict. The mapping is native; prose never passes. */

const binding = require('../../binding.js');
const { askAcpOnce } = require('./ask.js');
const { text } = require('./cli-settings.js');

/** What a validator is told when its caller does not say. */
const SYSTEM_PROMPT = [
  'You check finished work against the assertions in the prompt, and nothing else counts.',
  'After your reasoning, answer with one JSON object as the last thing you write:',
  '{"verdict":"pass" | "fail" | "blocked","summary":"…","assertions":[{"id":"…","passed":true | false,"message":"…"}]}',
  'The verdict is "pass" only if every assertion holds as far as you saw yourself, and "blocked" if you could not look.',
].join('\n');

/** An answer of which this runtime did not keep everything. It can still fail or block in prose; it never passes. */
const TRUNCATED = 'The validator answered more than is kept, so its verdict is not known';

/** UTF-16 code units of the output that an error's summary shows. */
const TAIL = 4000;

/**
 * @typedef {import('../../types/ask').ValidatorVerdict} ValidatorVerdict
 * @typedef {import('../../types/ask').VerdictStatus} VerdictStatus
 */

/**
 * @param {unknown} token
 * @returns {VerdictStatus | undefined}
 */
function normalizeVerdictToken(token) {
  if (typeof token !== 'string') return undefined;
  return /** @type {VerdictStatus | null} */ (binding.normalizeVerdictToken(token)) ?? undefined;
}

/**
 * @param {string} prose
 * @returns {'fail' | 'blocked' | undefined}
 */
function inferVerdictFromProse(prose) {
  if (typeof prose !== 'string') return undefined;
  return /** @type {'fail' | 'blocked' | null} */ (binding.inferVerdictFromProse(prose)) ?? undefined;
}

/**
 * @param {unknown} parsed
 * @param {string} prose
 * @returns {ValidatorVerdict}
 */
function mapParsedToVerdict(parsed, prose) {
  let json;
  try {
    json = JSON.stringify(parsed);
  } catch {
    // Nothing that came out of JSON.
  }
  return JSON.parse(binding.mapParsedToVerdict(json ?? 'null', typeof prose === 'string' ? prose : ''));
}

/**
 * @param {any} runtime
 * @param {import('../../types/ask').RunCliAgentValidationOptions} options
 * @returns {Promise<ValidatorVerdict>}
 */
async function runCliAgentValidation(runtime, options) {
  try {
    // Absent options are the ask's to refuse.
    const { prompt, cwd, settings, systemPrompt = SYSTEM_PROMPT, timeoutMs } = options ?? {};
    const model = text(settings?.model) ?? text(settings?.acpModel);
    const answer = await askAcpOnce(runtime, { prompt, cwd, model, systemPrompt, timeoutMs, recoverJson: true });
    if (!answer.ok) return failed(answer.message, answer.text);
    if (answer.truncated !== true) return mapParsedToVerdict(answer.parsed, answer.text);
    const verdict = mapParsedToVerdict(undefined, answer.text);
    return verdict.status === 'error' ? failed(TRUNCATED, answer.text) : verdict;
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

/**
 * @param {string} message
 * @param {string} [output]
 * @returns {ValidatorVerdict}
 */
function failed(message, output) {
  const tail = output ? `\n--- output tail ---\n${output.slice(-TAIL)}` : '';
  return { status: 'error', assertions: [], summary: `${message}${tail}` };
}

module.exports = { normalizeVerdictToken, inferVerdictFromProse, mapParsedToVerdict, runCliAgentValidation };
