'use strict';

/**
 * Runs `start` unless the signal has fired, and rejects with the signal's reason when it fires before the end.
 *
 * @template T
 * @param {import('../../types/host').AbortSignalLike | undefined} signal
 * @param {() => Promise<T>} start
 * @param {() => void | Promise<unknown>} onAbort Tells the runtime. Where it returns a promise, the rejection waits for that.
 * @returns {Promise<T>}
 */
function withSignal(signal, start, onAbort) {
  if (signal === undefined || signal === null) return start();
  if (signal.aborted) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    let aborted = false;
    const abort = () => {
      aborted = true;
      const done = () => reject(reasonOf(signal));
      const told = onAbort();
      if (told === undefined) done();
      else told.then(done, done);
    };
    signal.addEventListener('abort', abort, { once: true });
    // What comes after the abort is nobody's any more.
    const unless = (/** @type {(value: any) => void} */ settle) => (/** @type {any} */ value) => aborted || settle(value);
    start()
      .then(unless(resolve), unless(reject))
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** @param {import('../../types/host').AbortSignalLike} signal */
function reasonOf(signal) {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
}

module.exports = { withSignal, reasonOf };
