'use strict';

/**
 * Token usage from wherever an agent reports it. Absent is not zero: a number that was not said is not there.
 *
 * Sources, in order: `usage` of the prompt's result (ACP), `_meta.quota` (Gemini CLI), `_meta.field_meta.usage` and
 * `_meta.usage` (others seen).
 */

/** @type {Record<string, string[]>} Our name → names seen. */
const NAMES = {
  inputTokens: ['inputTokens', 'input_tokens', 'promptTokens', 'prompt_tokens'],
  outputTokens: ['outputTokens', 'output_tokens', 'completionTokens', 'completion_tokens'],
  totalTokens: ['totalTokens', 'total_tokens'],
  cachedReadTokens: ['cachedReadTokens', 'cached_read_tokens', 'cacheReadInputTokens', 'cache_read_input_tokens'],
  cachedWriteTokens: ['cachedWriteTokens', 'cached_write_tokens', 'cacheCreationInputTokens', 'cache_creation_input_tokens'],
  thoughtTokens: ['thoughtTokens', 'thought_tokens', 'reasoningTokens', 'reasoning_tokens'],
};

/**
 * @param {any} result The result of `session/prompt`, as the agent sent it.
 * @returns {any} Normalised usage, or `undefined`.
 */
function usageOf(result) {
  const meta = result?._meta;
  const candidates = [result?.usage, meta?.quota?.token_count, meta?.quota, meta?.field_meta?.usage, meta?.usage];
  for (const candidate of candidates) {
    const usage = normalised(candidate);
    if (usage !== undefined) return usage;
  }
  return undefined;
}

/** @param {any} raw */
function normalised(raw) {
  if (raw === null || typeof raw !== 'object') return undefined;
  /** @type {Record<string, number>} */
  const usage = {};
  for (const [name, seen] of Object.entries(NAMES)) {
    const value = seen.map((key) => raw[key]).find((number) => Number.isFinite(number) && number >= 0);
    if (value !== undefined) usage[name] = value;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

module.exports = { usageOf };
