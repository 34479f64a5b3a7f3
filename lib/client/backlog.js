'use strict';

const { EventReader } = require('./events.js');

/** Events kept at most. */
const MAX_EVENTS = 256;
/** Text kept at most, in UTF-16 code units. */
const MAX_UNITS = 1024 * 1024;

/** What a session said before its host could listen: the newest of it, and not read before somebody asks. */
class Backlog {
  /** @type {Array<{ kind: number, text: string, messageId: string, child: string }>} */
  #held = [];
  #units = 0;

  /**
   * @param {EventReader} reader Stands where the segment does.
   * @param {number} kind
   * @param {string} text
   */
  keep({ messageId, child }, kind, text) {
    this.#held.push({ kind, text, messageId, child });
    this.#units += text.length;
    while (this.#held.length > MAX_EVENTS || this.#units > MAX_UNITS) {
      this.#units -= this.#held.shift()?.text.length ?? 0;
    }
  }

  /**
   * Its events, and the length of the text that each is read from.
   *
   * @param {string} sessionId
   */
  *events(sessionId) {
    const reader = new EventReader(sessionId);
    for (const { kind, text, messageId, child } of this.#held) {
      reader.messageId = messageId;
      reader.child = child;
      yield { event: reader.read(kind, text), units: text.length };
    }
  }
}

module.exports = { Backlog };
