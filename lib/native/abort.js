'use strict';

/**
 * Runs `start` unless the signal has fired, and rejects with the signal's reason when it fires before the end.
 *
 * @template T
 * @param {import('../../types/host').AbortSignalLike | undefined} signal
 * @param {() => Promise<T>} start
 * @param {() => void} onAbort Tells the runtime; the promise rejects without waiting for it.
 * @returns {Promise<T>}
 */
function withSignal(signal, start, onAbort) {
  if (signal === undefined || signal === null) return start();
  if (signal.aborted) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    const abort = () => {
      onAbort();
      reject(reasonOf(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** @param {import('../../types/host').AbortSignalLike} signal */
function reasonOf(signal) {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
}

module.exports = { withSignal, reasonOf };
