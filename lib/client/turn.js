'use strict';

const { EventQueue } = require('./event-queue.js');

/**
 * A running turn. Its events are kept until it is known whether somebody iterates; a turn that is only awaited keeps none.
 *
 * @implements {AsyncIterable<import('../../protocol').SessionEvent>}
 */
class PromptTurn {
  /**
   * @param {import('./session').AcpSession} session
   * @param {(queue: EventQueue<any>, paused: boolean) => void} onPressure
   */
  constructor(session, onPressure) {
    this.session = session;
    this.onPressure = onPressure;
    /** @type {EventQueue<any> | undefined} */
    this.queue = undefined;
    /**
     * Events that came before anybody said what they want. `undefined`: they are not wanted. When it would press, nobody has
     * asked for so long that nobody will.
     *
     * @type {EventQueue<any> | undefined}
     */
    this.unclaimed = new EventQueue(() => {
      this.unclaimed = undefined;
    });
    /** @type {Promise<any>} */
    this.result = Promise.resolve();
  }

  /** @param {Promise<any>} result */
  begin(result) {
    this.result = result;
    // Whoever only iterates gets the failure there.
    result.then(
      () => this.queue?.end(),
      (error) => this.queue?.end(error),
    );
  }

  /** Whether an event would reach anybody. */
  get listening() {
    return this.queue !== undefined || this.unclaimed !== undefined;
  }

  /**
   * @param {any} event
   * @param {number} units Length of the text that it was read from.
   */
  push(event, units) {
    (this.queue ?? this.unclaimed)?.push(event, units);
  }

  [Symbol.asyncIterator]() {
    const queue = this.unclaimed ?? new EventQueue(this.onPressure);
    queue.onPressure = this.onPressure;
    this.unclaimed = undefined;
    // Whoever iterated before gets no more, so has nothing to hold back.
    if (this.queue?.paused) this.queue.press(false);
    this.queue = queue;
    queue.onLeave = () => {
      if (this.queue === queue) this.queue = undefined;
    };
    this.result.then(
      () => queue.end(),
      (error) => queue.end(error),
    );
    return queue;
  }

  /**
   * @param {any} [onFulfilled]
   * @param {any} [onRejected]
   */
  then(onFulfilled, onRejected) {
    if (this.queue === undefined) this.unclaimed = undefined;
    return this.result.then(onFulfilled, onRejected);
  }

  /** @param {any} [onRejected] */
  catch(onRejected) {
    return this.then(undefined, onRejected);
  }

  /** @param {any} [onFinally] */
  finally(onFinally) {
    return this.then().finally(onFinally);
  }

  text() {
    return this.then((/** @type {any} */ result) => result.text);
  }

  toReadableStream() {
    const iterator = this[Symbol.asyncIterator]();
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await iterator.return();
        },
      },
      { highWaterMark: 0 },
    );
  }

  cancel() {
    return this.session.cancelTurn(this);
  }
}

module.exports = { PromptTurn };
