'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { replay: play, TranscriptError } = require('../replay');
const { agentFrom, parse, timeoutFrom } = require('./agent-options');
const { exitCodes, UsageError } = require('./exit-codes');
const { Interrupt } = require('./interrupt');
const { oneLine, Terminal } = require('./terminal');

const options = /** @type {const} */ ({
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  verbose: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
});

const help = `Usage: acp replay [options] <file>

Plays a conversation that acp trace recorded: the agent's part is played from the file, this package does its own part
again, and the two are compared. No agent is started, no file is read or written for it, no command is run for it.

  --timeout <ms>            how long either side waits for the other's next message (default: 10000)
  --json                    one JSON document
  -v, --verbose             the text of each turn, too

Exit codes: 0 as recorded, 1 something differs, 2 wrong usage or no transcript, 130 interrupted`;

/** @param {import('../replay').Turn} turn */
function ending(turn) {
  return turn.stopReason ?? (turn.error === undefined ? 'no end' : `error ${turn.error}`);
}

/** @param {Record<string, number>} events */
function counts(events) {
  return Object.entries(events).map(([kind, count]) => `${kind} ${count}`).join(', ');
}

/** @param {Terminal} terminal @param {import('../replay').Outcome} outcome @param {boolean} verbose */
function show(terminal, outcome, verbose) {
  const { agent, version, messages, turns, unexpected, divergence, error } = outcome;
  const name = `${agent || 'an agent without a name'}${version ? ` ${version}` : ''}`;
  terminal.answer(`${oneLine(name)}: ${messages.in} messages from it, ${messages.out} to it\n`);
  for (const [index, turn] of turns.entries()) {
    const calls = Object.keys(turn.toolCalls).length;
    terminal.answer(`turn ${index + 1}: ${oneLine(ending(turn))}, ${turn.text.length} characters, ${calls} tool calls\n`);
    if (Object.keys(turn.events).length > 0) terminal.answer(`  ${oneLine(counts(turn.events))}\n`);
    if (verbose && turn.text !== '') terminal.answer(`${turn.text.replace(/^/gm, '  | ')}\n`);
  }
  if (error !== undefined) terminal.answer(`the handshake failed: ${oneLine(String(error.message))} [${error.code}]\n`);
  for (const line of unexpected) terminal.answer(`diagnostics: ${line}\n`);
  if (divergence === undefined) terminal.answer('as recorded\n');
  else terminal.answer(`differs${divergence.line > 0 ? ` at line ${divergence.line}` : ''}: ${oneLine(divergence.problem)}\n`);
}

/** @type {import('./types').Command} */
async function replay(world, args) {
  const { values, positionals, rest } = parse(args, options);
  if (values.help) {
    world.stdout.write(`${help}\n`);
    return exitCodes.ok;
  }
  if (positionals.length !== 1 || rest !== undefined) throw new UsageError('acp replay takes one file.');
  const patienceMs = timeoutFrom(values.timeout);
  const [file] = positionals;
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const { env } = agentFrom({}, undefined, world.api().buildSpawnEnv);
  const terminal = new Terminal(world, { remarks: true });
  const interrupt = new Interrupt(world);
  // An empty folder: the sessions of a recording have no business with the files of this one.
  const cwd = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-replay-')));
  try {
    const outcome = await play(world.api(), {
      file, text, cwd, env, signal: interrupt.signal, ...(patienceMs !== undefined && { patienceMs }),
    });
    if (values.json) {
      const { error, turns, ...more } = outcome;
      const failure = error && { code: error.code, phase: error.phase, message: error.message };
      // They were played just now: no line of the file is theirs.
      const played = turns.map(({ line, ...turn }) => turn);
      terminal.answer(`${JSON.stringify({ ...more, turns: played, error: failure }, undefined, 2)}\n`);
    } else show(terminal, outcome, values.verbose === true);
    return outcome.ok ? exitCodes.ok : exitCodes.failed;
  } catch (error) {
    if (error instanceof TranscriptError) throw new UsageError(`${file}: ${error.message}.`);
    if (interrupt.exitCode === undefined) throw error;
    return interrupt.exitCode;
  } finally {
    interrupt.dispose();
    fs.rmSync(cwd, { recursive: true, force: true });
  }
}

module.exports = { replay };
