'use strict';

/** Paths that an agent may use, and the native failures as error classes. */

const binding = require('../../binding.js');
const { AcpError, FsContentTooLargeError, FsWriteDeniedError, PathJailError } = require('../errors.js');

const JAIL_CODES = new Set(['path_outside_cwd', 'denied_secret', 'denied_git', 'invalid_path']);

/** The policy of files that nothing is read from or written to. */
const CLOSED = Object.freeze({ read: false, write: false, readMaxBytes: 0, writeMaxBytes: 0, hardLinkedReads: false });

/**
 * @param {{ code: string, message: string, limitBytes?: number, rpcCode: number, rpcData: string }} failure
 * @returns {Error}
 */
function fileError(failure) {
  const { code, message, limitBytes } = failure;
  const rpc = { code: failure.rpcCode, message, data: JSON.parse(failure.rpcData) };
  if (JAIL_CODES.has(code)) {
    return Object.assign(new PathJailError(/** @type {any} */ (code), message), { rpc });
  }
  if (code === 'write_denied') return Object.assign(new FsWriteDeniedError(message), { rpc });
  if (code === 'content_too_large' && message.startsWith('fs write')) {
    return Object.assign(new FsContentTooLargeError(limitBytes ?? 0), { rpc });
  }
  switch (code) {
    case 'content_too_large':
      return new AcpError('content_too_large', message, { rpc, extra: { limitBytes } });
    case 'not_found':
      // As Node's own file system reports it.
      return new AcpError('ENOENT', `ENOENT: ${message}`, { rpc });
    case 'not_a_regular_file':
      return new AcpError('invalid_path', message, { rpc });
    case 'invalid_params':
      return new AcpError('invalid_argument', message, { rpc });
    default:
      return new AcpError('internal_error', message, { rpc });
  }
}

/**
 * @param {import('../../binding').FileAnswer} answer
 * @returns {string}
 */
function valueOf(answer) {
  if (answer.failure) throw fileError(answer.failure);
  return answer.value ?? '';
}

/**
 * @param {string} requested
 * @param {string} cwd
 * @returns {Promise<string>}
 */
async function assertPathWithinCwd(requested, cwd) {
  const files = new binding.NativeFiles(String(cwd), CLOSED);
  return valueOf(await files.resolve(typeof requested === 'string' ? requested : ''));
}

/**
 * @param {string} path
 * @returns {boolean}
 */
function isSecretPath(path) {
  return typeof path === 'string' && binding.isSecretPath(path);
}

/**
 * @param {string} path
 * @returns {boolean}
 */
function isGitInternal(path) {
  return typeof path === 'string' && binding.isGitInternal(path);
}

module.exports = { assertPathWithinCwd, isSecretPath, isGitInternal, valueOf };
