'use strict';

const { once } = require('node:events');
const { createInterface } = require('node:readline');

const { agentFrom, agentHelp, agentOptions, parse, timeoutFrom } = require('./agent-options');
const { failureText } = require('./ask');
const { showEvent } = require('./events');
const { exitCodeFor, exitCodes, UsageError } = require('./exit-codes');
const { CANCEL_GRACE_MS, Interrupt } = require('./interrupt');
const { Terminal, harmlessJson } = require('./terminal');
const { openTrace, tracing } = require('./trace-file');

const options = /** @type {const} */ ({
  ...agentOptions,
  out: { type: 'string', short: 'o' },
  allow: { type: 'boolean' },
  read: { type: 'boolean' },
  write: { type: 'boolean' },
  terminal: { type: 'boolean' },
});

const help = `Usage: acp trace [options] ["prompt" …] [-- program argument …]

Records a conversation with an agent: every message in both directions, with its time, as JSON lines. Secrets in them
are masked, the conversation is not. Each prompt is a turn of one session; without any, each line of standard input is
one. acp replay plays the recording again.

  -o, --out <file>          where it goes, for its owner alone (default: standard output)

${agentHelp}
  -- program argument …     the same as --cmd program -- argument …

The turns:
  --timeout <ms>            how long each may take, and before them the handshake and the session (default: 30 s, a
                            minute, and as long as they like for the turns)
  --allow                   says yes to every permission question (default: no to every one)
  --read, --write           lets the agent read or write files in its folder
  --terminal                lets the agent run commands through this program; they run as you
  -v, --verbose             tool calls, plans and thoughts on standard error, which a terminal gets anyway

Exit codes: 0 recorded, 1 failed, 2 wrong usage, 124 no handshake in time, 127 program not found, 130 interrupted`;

/**
 * The prompts, as they come.
 *
 * @param {string[]} given
 * @param {import('node:stream').Readable} stdin
 */
async function* prompts(given, stdin) {
  if (given.length > 0) {
    yield* given;
    return;
  }
  for await (const line of createInterface({ input: stdin, terminal: false })) {
    if (line.trim() !== '') yield line;
  }
}

/**
 * @param {import('./types').World} world
 * @param {ReturnType<typeof parse<typeof options>>['values']} values
 * @param {any} launch
 * @param {AsyncIterable<string>} turns
 * @param {Interrupt} interrupt
 * @param {Terminal} terminal
 */
async function record(world, values, launch, turns, interrupt, terminal) {
  const { AcpClient } = world.api();
  const timeoutMs = timeoutFrom(values.timeout);
  const { signal } = interrupt;
  terminal.wait('starting the agent');
  const client = await AcpClient.launch({
    ...launch,
    ...(timeoutMs !== undefined && { initializeTimeoutMs: timeoutMs }),
    cancelGraceMs: CANCEL_GRACE_MS,
    signal,
    onPermission: () => (values.allow ? 'allow' : 'deny'),
    fs: { read: values.read === true, write: values.write === true },
    terminal: values.terminal === true,
  });
  interrupt.force = () => client.kill();
  try {
    const session = await client.newSession({ cwd: launch.cwd, ...(timeoutMs !== undefined && { timeoutMs }), signal });
    for await (const prompt of turns) {
      signal.throwIfAborted();
      const turn = session.prompt(prompt, { signal, ...(timeoutMs !== undefined && { timeoutMs }) });
      terminal.wait('waiting for the answer');
      for await (const event of turn) {
        if (!showEvent(terminal, event, values.out !== undefined)) await once(world.stdout, 'drain', { signal });
      }
      await turn;
      if (values.out !== undefined) terminal.endAnswer();
    }
  } finally {
    await client.close();
  }
}

/** @type {import('./types').Command} */
async function trace(world, args) {
  const parsed = parse(args, options);
  const { values, positionals } = parsed;
  if (values.help) {
    world.stdout.write(`${help}\n`);
    return exitCodes.ok;
  }
  if (values.json) throw new UsageError('What acp trace writes is JSON lines already.');
  timeoutFrom(values.timeout);
  let { rest } = parsed;
  if (rest !== undefined && values.cmd === undefined && values.agent === undefined) {
    [values.cmd, ...rest] = rest;
    if (values.cmd === undefined) throw new UsageError('There is no program after --.');
  }
  const launch = agentFrom(values, rest, world.api().buildSpawnEnv);
  const terminal = new Terminal(world, { remarks: values.verbose || world.stderr.isTTY === true });
  const toStdout = () => {
    const { options: tap, end: close } = tracing((line) => world.stdout.write(world.stdout.isTTY ? harmlessJson(line) : line), launch.command);
    return { options: tap, close };
  };
  const file = values.out === undefined ? toStdout() : openTrace('--out', values.out, launch.command);
  const interrupt = new Interrupt(world);
  try {
    const turns = prompts(positionals, world.stdin);
    await record(world, values, { ...launch, ...file.options }, turns, interrupt, terminal);
    return interrupt.exitCode ?? exitCodes.ok;
  } catch (error) {
    if (interrupt.exitCode === undefined) terminal.problem(failureText(error));
    return interrupt.exitCode ?? exitCodeFor(/** @type {any} */ (error)?.code);
  } finally {
    terminal.settle();
    interrupt.dispose();
    file.close();
  }
}

module.exports = { trace };
