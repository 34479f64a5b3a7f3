'use strict';

const { elicitationProblems } = require('../native/index.js');

/**
 * The host of an address as a browser would read it. `undefined`: it is none that a browser takes.
 *
 * @param {string} url
 */
function hostOf(url) {
  try {
    return new URL(url).host || undefined;
  } catch {
    return undefined;
  }
}

/**
 * The host's handler, as the native side calls it. What goes out is checked there, whatever comes from here; this tells
 * the host beforehand.
 *
 * @param {NonNullable<import('../../types/client').LaunchOptions['onElicitation']>} onElicitation
 * @returns {(params: any, signal: AbortSignal) => Promise<any>}
 */
function elicitationHandler(onElicitation) {
  return async (params, signal) => {
    const form = params.mode === 'form';
    const request = { ...params, signal };
    if (form) request.validate = (/** @type {unknown} */ content) => elicitationProblems(params.requestedSchema, content);
    if (params.mode === 'url') {
      request.host = hostOf(params.url);
      if (request.host === undefined) return { action: 'cancel' };
    }
    const answer = /** @type {any} */ (await onElicitation(request));
    if (form && answer?.action === 'accept') warn(elicitationProblems(params.requestedSchema, answer.content ?? {}));
    return answer;
  };
}

/** @param {Array<{ property: string, message: string }>} problems */
function warn(problems) {
  if (problems.length === 0) return;
  const shown = problems.slice(0, 5).map(({ property, message }) => `${property || 'the content'} ${message}`);
  const text = `An answer does not fit its form and was sent as cancel: ${shown.join('; ')}`;
  process.emitWarning(text, 'AcpElicitationWarning');
}

module.exports = { elicitationHandler };
