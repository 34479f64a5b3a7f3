'use strict';

/**
 * How a system prompt reaches the agent: in the protocol's own field where the agent advertises it, under a key of `_meta`
 * for agents known to read one there, else as the first text block of the first prompt.
 *
 * @typedef {import('./presets').RuntimeSettings} RuntimeSettings
 *
 * @typedef {object} Placement
 * @property {{ mode: string, content: { type: 'text', text: string }[] }} [systemPrompt] for the field of `session/new`
 * @property {Record<string, unknown>} [meta] for `_meta` of `session/new`
 * @property {string} [text] for the first prompt
 */

/**
 * @param {any} capabilities `agentCapabilities`; `undefined` while they are not known
 * @returns {{ mode: 'override' | 'append' } | undefined}
 */
function advertisedField(capabilities) {
  const marker = capabilities?.sessionCapabilities?.systemPrompt;
  if (typeof marker !== 'object' || marker === null) return undefined;
  return { mode: marker.mode?.override === undefined || marker.mode.override === null ? 'append' : 'override' };
}

/**
 * @param {string | undefined} systemPrompt
 * @param {RuntimeSettings} settings
 * @param {any} capabilities
 * @returns {Placement}
 */
function placeSystemPrompt(systemPrompt, settings, capabilities) {
  if (typeof systemPrompt !== 'string' || systemPrompt.trim() === '') return {};
  const { systemPromptVia: via, systemPromptMeta: key } = settings;
  const field = advertisedField(capabilities);
  if (via === 'none') return {};
  if (field !== undefined && (via === 'auto' || via === 'field')) {
    return { systemPrompt: { mode: field.mode, content: [{ type: 'text', text: systemPrompt }] } };
  }
  if (via === 'meta' || (via === 'auto' && key !== undefined)) {
    return { meta: { [key ?? 'systemPromptOverride']: systemPrompt } };
  }
  return { text: systemPrompt };
}

module.exports = { placeSystemPrompt };
