'use strict';

/**
 * `fs/read_text_file` and `fs/write_text_file` for a handler object. The work is native, off the main thread; the gate is
 * asked here, between the checks of a write and the write.
 */

const binding = require('../../binding.js');
const { limit } = require('./sanitize.js');
const { effectiveDisposition, runApprovalForCategory } = require('./control-handler.js');
const { valueOf } = require('./path-jail.js');

/** 5 MiB. */
const DEFAULT_READ_MAX_BYTES = 5 * 1024 * 1024;
/** 5 MiB. */
const DEFAULT_WRITE_MAX_BYTES = 5 * 1024 * 1024;

/** @typedef {import('../../types/fusion').PermissionGate} PermissionGate */

/**
 * Whether a write to a resolved path may go ahead, and if not, whether the policy itself said so.
 *
 * @param {string} path
 * @param {PermissionGate | undefined} gate
 * @param {import('../../types/fusion').ResolvePermissionOptions} options
 * @returns {Promise<'allow' | 'blocked' | 'not-granted'>}
 */
async function decideWrite(path, gate, options) {
  const asked = gate ?? {};
  const disposition = effectiveDisposition('file_write_delete', asked, options);
  if (disposition === 'allow') return 'allow';
  if (disposition === 'block') return 'blocked';
  const decision = await runApprovalForCategory(asked, {
    category: 'file_write_delete',
    toolName: 'fs/write_text_file',
    dedupeKey: `fs_write|${path}`,
    args: { path },
    signal: options.signal,
  });
  return decision === 'allow' ? 'allow' : 'not-granted';
}

/**
 * @param {import('../../types/fusion').FsHandlerOptions} options
 * @returns {import('../../types/fusion').FsHandlers}
 */
function createFsHandlers(options) {
  const { cwd, gate, allowRead, allowWrite, allowUnrestricted } = options;
  const files = new binding.NativeFiles(String(cwd), {
    read: allowRead === true,
    write: allowWrite === true,
    readMaxBytes: limit(options.readMaxBytes ?? DEFAULT_READ_MAX_BYTES),
    writeMaxBytes: limit(options.writeMaxBytes ?? DEFAULT_WRITE_MAX_BYTES),
    hardLinkedReads: false,
  });
  /** @type {import('../../types/fusion').FsHandlers} */
  const handlers = {};
  if (allowRead === true) {
    handlers.readTextFile = async ({ path, line, limit: lines }) => {
      const answer = await files.read(JSON.stringify({ path, line, limit: lines }));
      return { content: valueOf(answer) };
    };
  }
  if (allowWrite === true) {
    handlers.writeTextFile = async ({ path, content }) => {
      const answer = await files.prepareWrite(JSON.stringify({ path, content }));
      const resolved = valueOf(answer);
      const pending = /** @type {number} */ (answer.pending);
      const decision = await decideWrite(resolved, gate, { allowUnrestricted });
      valueOf(decision === 'allow' ? await files.commit(pending) : files.discard(pending, decision === 'blocked'));
      return {};
    };
  }
  return handlers;
}

/**
 * @param {string} content
 * @param {number | null | undefined} line
 * @param {number | null | undefined} limitLines
 * @param {number} maxBytes
 * @returns {string}
 */
function applyReadWindow(content, line, limitLines, maxBytes) {
  const number = (/** @type {unknown} */ value) => (typeof value === 'number' ? value : undefined);
  return binding.applyReadWindow(String(content), number(line), number(limitLines), limit(maxBytes));
}

module.exports = {
  DEFAULT_READ_MAX_BYTES, DEFAULT_WRITE_MAX_BYTES, createFsHandlers, applyReadWindow, decideWrite,
};
