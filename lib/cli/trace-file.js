'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { transcriptWriter } = require('../replay');
const { UsageError } = require('./exit-codes');

/**
 * A transcript that is written to a file as it comes. The file is for its owner alone: it has the whole conversation in it.
 *
 * @param {string} option What names the file, for the message when it cannot be written.
 * @param {string | undefined} file
 * @param {string} command The agent's program: its name, should it not give one.
 */
function openTrace(option, file, command) {
  if (file === undefined) return { options: {}, close() {} };
  /** @type {number} */
  let handle;
  try {
    handle = fs.openSync(file, 'w', 0o600);
  } catch (error) {
    throw new UsageError(`${option}: ${error instanceof Error ? error.message : error}`);
  }
  const { options, end } = tracing((line) => fs.writeSync(handle, line), command);
  const close = () => {
    end();
    fs.closeSync(handle);
  };
  return { options, close };
}

/**
 * Launch options that write a transcript.
 *
 * @param {(line: string) => void} write
 * @param {string} command
 */
function tracing(write, command) {
  const writer = transcriptWriter(write, { agent: path.basename(command) });
  /** @param {import('../../types/client').WireFrame} frame */
  const onWire = (frame) => writer.frame(frame);
  return { options: { onWire }, end: () => writer.end() };
}

module.exports = { openTrace, tracing };
