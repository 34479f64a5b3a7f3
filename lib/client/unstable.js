'use strict';

/**
 * Calls outside the stable part of the protocol. The native side lets them through only where the launch asked for them
 * and the agent advertises them.
 */

const { AcpError } = require('../errors.js');
const { string } = require('../native/options.js');
const { SESSION, checked } = require('./arguments.js');
const { clean } = require('../clean.js');

/** @typedef {import('../../types/client').CallOptions | undefined} Options */
/** @typedef {(method: any, params: any, options?: any) => Promise<any>} Call */

const AUTH_STATES = new Set(['authenticated', 'unauthenticated', 'not_required', 'unknown']);

/** @param {string} what */
function malformed(what) {
  return new AcpError('malformed_response', `the agent did not return ${what}`, { phase: 'session' });
}

/**
 * Whether somebody is signed in. A state that is not known counts as `unknown` (rule C20).
 *
 * @param {any} status
 * @returns {any}
 */
function authStatusOf(status) {
  clean(status);
  const accounts = Array.isArray(status?.accounts) ? status.accounts : [];
  return { ...status, state: AUTH_STATES.has(status?.state) ? status.state : 'unknown', accounts };
}

/** @param {Call} call @param {Options} options */
async function listProviders(call, options) {
  const result = await call('providers/list', {}, options);
  if (!Array.isArray(result?.providers)) throw malformed('its providers');
  return clean(result.providers);
}

/**
 * @param {Call} call
 * @param {any} provider
 * @param {Options} options
 */
async function setProvider(call, provider, options) {
  const { providerId, apiType, baseUrl, headers } = provider ?? {};
  if (![providerId, apiType, baseUrl].every((text) => typeof text === 'string' && text !== '')) {
    throw new AcpError('invalid_argument', 'a provider has a providerId, an apiType and a baseUrl', { phase: 'session' });
  }
  const values = Object.values(headers ?? {});
  if (!values.every((value) => typeof value === 'string')) {
    throw new AcpError('invalid_argument', 'headers have strings only', { phase: 'session' });
  }
  // Credentials, mostly: `Bearer x` is masked as a whole and without its scheme.
  const secrets = values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)]).filter((value) => value !== '');
  const params = { providerId, apiType, baseUrl, ...(headers && { headers }) };
  await call('providers/set', params, { ...options, secrets });
}

/**
 * @param {Call} call
 * @param {string} sessionId
 * @param {Options} options
 */
async function sessionStatus(call, sessionId, options) {
  const result = await call('session/status', { sessionId: string(sessionId, 'sessionId') }, options);
  if (typeof result?.status !== 'string') throw malformed('a status');
  return clean(result.status);
}

/**
 * @param {Call} call
 * @param {any} where
 * @param {string} cwd The client's own directory.
 */
async function sessionOptions(call, where, cwd) {
  const { cwd: asked = cwd, additionalDirectories, sessionId, ...options } = checked(where, SESSION);
  const params = { cwd: asked, ...(additionalDirectories && { additionalDirectories }), ...(sessionId !== undefined && { sessionId }) };
  const result = await call('session/options', params, options);
  return { modes: clean(result?.modes ?? undefined), configOptions: clean(result?.configOptions ?? undefined) };
}

/**
 * @param {Call} call
 * @param {string} sessionId
 * @param {string} title
 * @param {Options} options
 * @returns {Promise<string>} The title as the agent keeps it.
 */
async function setSessionTitle(call, sessionId, title, options) {
  const params = { sessionId: string(sessionId, 'sessionId'), title: string(title, 'title') };
  const result = await call('session/set_title', params, options);
  if (typeof result?.title !== 'string') throw malformed('the title');
  return clean(result.title);
}

module.exports = { authStatusOf, listProviders, setProvider, sessionStatus, sessionOptions, setSessionTitle };
