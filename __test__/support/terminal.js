'use strict';

// The command line on a terminal that keeps what was written to it.

const { EventEmitter } = require('node:events');
const { Readable, Writable } = require('node:stream');

/** What an agent must not be able to write to a terminal. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
/** What the command line itself writes: a line cleared for the spinner, and dim text. */
const OWN = /\r\u001b\[K|\u001b\[2m|\u001b\[22m/g;

function sink() {
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        stream.text += chunk;
        done();
      },
    }),
    { isTTY: true, text: '' },
  );
  return stream;
}

/**
 * Runs a command on it.
 *
 * @param {(world: any) => Promise<number>} main
 * @param {string[]} argv
 */
async function world(main, argv) {
  const [stdout, stderr] = [sink(), sink()];
  const code = await main({
    argv, stdin: Readable.from([]), stdout, stderr, signals: new EventEmitter(), api: () => require('../..'),
  });
  return { code, screen: { stdout: stdout.text.replace(OWN, ''), stderr: stderr.text.replace(OWN, '') } };
}

module.exports = { CONTROL, world };
