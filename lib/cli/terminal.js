'use strict';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Takes out what could move the cursor, change colours or worse: an agent's text never steers the terminal. A sequence
 * that is cut over two chunks loses its first character and with it its power.
 *
 * @param {string} text
 */
function harmless(text) {
  // eslint-disable-next-line no-control-regex -- control characters are the point
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '');
}

/** JSON for a terminal: it says the same, with escapes for what `harmless` takes out. @param {string} json */
function harmlessJson(json) {
  return json.replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One line for a side remark. @param {string} text */
function oneLine(text) {
  const line = harmless(text.replace(/\s+/g, ' ')).trim();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
}

/** Where a command writes: the answer to standard output, everything about it to standard error. */
class Terminal {
  /**
   * @param {import('./types').World} world
   * @param {{ remarks: boolean }} options `remarks`: whether side remarks are written at all.
   */
  constructor({ stdout, stderr }, { remarks }) {
    this.stdout = stdout;
    this.stderr = stderr;
    this.remarks = remarks;
    // A dumb terminal shows control sequences as they are.
    this.steerable = stderr.isTTY === true && process.env.TERM !== 'dumb';
    this.colour = this.steerable && !process.env.NO_COLOR;
    // Both on one screen: a remark must not start in the middle of a line of the answer.
    this.shared = stdout.isTTY === true && stderr.isTTY === true;
    this.atLineStart = true;
    this.thinking = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.spinner = undefined;
  }

  /**
   * A piece of the answer.
   *
   * @param {string} text
   * @returns {boolean} False when the reader is slow and the caller does well to wait for `drain`.
   */
  answer(text) {
    const shown = this.stdout.isTTY ? harmless(text) : text;
    if (shown === '') return true;
    this.settle();
    this.atLineStart = shown.endsWith('\n');
    return this.stdout.write(shown);
  }

  /** Ends the answer's last line. */
  endAnswer() {
    this.settle();
    if (!this.atLineStart) this.stdout.write('\n');
    this.atLineStart = true;
  }

  /** A side remark, on a line of its own. @param {string} text */
  remark(text) {
    if (!this.remarks) return;
    this.settle();
    this.breakLine();
    this.stderr.write(`${this.dim(oneLine(text))}\n`);
  }

  /** A piece of the agent's thoughts, streamed like the answer. @param {string} text */
  thought(text) {
    if (!this.remarks) return;
    if (!this.thinking) {
      this.settle();
      this.breakLine();
    }
    this.thinking = true;
    this.stderr.write(this.dim(harmless(text)));
  }

  /** Something that went wrong. Always written. @param {string} text */
  problem(text) {
    this.settle();
    this.breakLine();
    this.stderr.write(`${harmless(text)}\n`);
  }

  /** @param {string} text */
  dim(text) {
    return this.colour ? `\u001b[2m${text}\u001b[22m` : text;
  }

  breakLine() {
    if (this.shared && !this.atLineStart) this.stderr.write('\n');
    if (this.shared) this.atLineStart = true;
  }

  /** Ends what stands open on standard error: the spinner, or a line of thoughts. */
  settle() {
    if (this.spinner) {
      clearInterval(this.spinner);
      this.spinner = undefined;
      this.stderr.write(CLEAR_LINE);
    }
    if (this.thinking) this.stderr.write('\n');
    this.thinking = false;
  }

  /** Shows that something is going on until there is something to show. @param {string} text */
  wait(text) {
    if (!this.steerable || this.spinner || this.thinking) return;
    if (this.shared && !this.atLineStart) return;
    let frame = 0;
    const draw = () => this.stderr.write(`${CLEAR_LINE}${this.dim(`${FRAMES[frame++ % FRAMES.length]} ${text}`)}`);
    draw();
    this.spinner = setInterval(draw, FRAME_MS);
    this.spinner.unref();
  }
}

module.exports = { Terminal, harmless, harmlessJson, oneLine };
