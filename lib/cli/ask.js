'use strict';

const { once } = require('node:events');
const { text: readAll } = require('node:stream/consumers');

const { agentFrom, agentHelp, agentOptions, parse, timeoutFrom } = require('./agent-options');
const { showEvent } = require('./events');
const { exitCodeFor, exitCodes, UsageError } = require('./exit-codes');
const { CANCEL_GRACE_MS, Interrupt } = require('./interrupt');
const { Terminal } = require('./terminal');
const { openTrace } = require('./trace-file');

const options = /** @type {const} */ ({
  ...agentOptions,
  system: { type: 'string' },
  'recover-json': { type: 'boolean' },
  allow: { type: 'boolean' },
  read: { type: 'boolean' },
  write: { type: 'boolean' },
  terminal: { type: 'boolean' },
  trace: { type: 'string' },
});

const help = `Usage: acp ask [options] "prompt"     (a prompt of - is read from standard input)

Starts an agent, asks it once, streams the answer, and ends the agent with every process it started.

${agentHelp}

The turn:
  --system <text>           a system prompt
  --timeout <ms>            how long all of it may take: start, session and turn (default: 30 s for the handshake, a
                            minute for the session, and as long as it likes for the turn)
  --allow                   says yes to every permission question (default: no to every one)
  --read, --write           lets the agent read or write files in its folder
  --terminal                lets the agent run commands through this program; they run as you

The output:
  --json                    one JSON document instead of the streamed answer
  --recover-json            only the last JSON value of the answer; fails when there is none
  --trace <file>            a transcript that acp replay plays; secrets are masked, the conversation is not
  -v, --verbose             tool calls, plans and thoughts on standard error, which a terminal gets anyway

Exit codes: 0 answered, 1 failed, 2 wrong usage, 124 no handshake in time, 127 program not found, 130 interrupted`;

const SIGNED_OUT = 'The agent is not signed in: its whole answer is a notice to do so. "acp login" signs in to the same agent.';
const CUT = 'The answer is longer than is kept, so no JSON is taken from it.';

/**
 * A limit that several calls share.
 *
 * @param {number | undefined} timeoutMs
 */
function deadline(timeoutMs) {
  const end = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const left = () => (end === undefined ? undefined : Math.max(1, Math.ceil(end - performance.now())));
  return {
    /** The same under the name that most calls have for it. */
    option: () => (end === undefined ? {} : { timeoutMs: left() }),
    left,
  };
}

/**
 * The system prompt goes the protocol's way where the agent knows it, and before the prompt everywhere else.
 *
 * @param {string | undefined} system
 * @param {string} prompt
 * @param {{ sessionCapabilities?: { systemPrompt?: unknown } }} capabilities
 */
function withSystem(system, prompt, capabilities) {
  if (!system) return { session: {}, input: prompt };
  if (capabilities?.sessionCapabilities?.systemPrompt != null) return { session: { systemPrompt: system }, input: prompt };
  return { session: {}, input: `${system}\n\n${prompt}` };
}

/**
 * What a failure looks like to a program that reads the output.
 *
 * @param {any} error
 */
function failureDocument(error) {
  const { phase, message, rpc, exit, stderrTail, retryable, promptMayHaveBeenSent, partialText } = error;
  // The reason of an interruption is no error of this package, and its code a number.
  const code = error.name === 'AbortError' ? 'aborted' : error.code ?? 'internal_error';
  return {
    ok: false,
    ...(partialText && { text: partialText }),
    error: { code, phase, message, rpc, exit, stderrTail, retryable, promptMayHaveBeenSent },
  };
}

/**
 * What a failure looks like to a person.
 *
 * @param {any} error
 */
function failureText(error) {
  const lines = [`acp: ${error?.message ?? error}${error?.code ? ` [${error.code}]` : ''}`];
  if (error?.exit) lines.push(`the agent ended with ${error.exit.signal ?? `exit code ${error.exit.exitCode}`}`);
  if (error?.stderrTail?.trim()) lines.push('the last it wrote on standard error:', error.stderrTail.trimEnd());
  return lines.join('\n');
}

/**
 * One turn, from launch to answer.
 *
 * @param {import('./types').World} world
 * @param {ReturnType<typeof parse<typeof options>>['values']} values
 * @param {any} launch
 * @param {string} prompt
 * @param {Interrupt} interrupt
 * @param {Terminal} terminal
 */
async function turn(world, values, launch, prompt, interrupt, terminal) {
  const { AcpClient, extractJsonObjects } = world.api();
  const limit = deadline(timeoutFrom(values.timeout));
  const streamed = !values.json && !values['recover-json'];

  terminal.wait('starting the agent');
  const client = await AcpClient.launch({
    ...launch,
    initializeTimeoutMs: limit.left(),
    cancelGraceMs: CANCEL_GRACE_MS,
    signal: interrupt.signal,
    onPermission(request) {
      const decision = values.allow ? 'allow' : 'deny';
      const title = request.toolCall.title ?? request.toolCall.toolCallId;
      terminal.remark(`[permission] ${title}: ${values.allow ? 'allowed' : 'denied (--allow says yes)'}`);
      return decision;
    },
    fs: { read: values.read === true, write: values.write === true },
    terminal: values.terminal === true,
  });
  interrupt.force = () => client.kill();
  try {
    interrupt.signal.throwIfAborted();
    const { session: sessionOptions, input } = withSystem(values.system, prompt, client.agentCapabilities);
    const { signal } = interrupt;
    const session = await client.newSession({ cwd: launch.cwd, ...sessionOptions, ...limit.option(), signal });
    const running = session.prompt(input, { ...limit.option(), signal });
    terminal.wait('waiting for the answer');
    for await (const event of running) {
      if (!showEvent(terminal, event, streamed)) await once(world.stdout, 'drain', { signal: interrupt.signal });
    }
    const result = await running;
    // What a cut answer ends with is not known.
    const found = values['recover-json'] && !result.textTruncated ? extractJsonObjects(result.text) : [];
    const { agentInfo: agent, protocolVersion } = client;
    return { result, parsed: found.at(-1), agent, protocolVersion, sessionId: session.id };
  } finally {
    await client.close();
  }
}

/** @type {import('./types').Command} */
async function ask(world, args) {
  const { values, positionals, rest } = parse(args, options);
  if (values.help) {
    world.stdout.write(`${help}\n`);
    return exitCodes.ok;
  }
  if (positionals.length === 0) throw new UsageError('There is no prompt. Quote it, or use - to read it from standard input.');
  timeoutFrom(values.timeout);
  const launch = agentFrom(values, rest, world.api().buildSpawnEnv);
  const fromInput = positionals.length === 1 && positionals[0] === '-';
  const prompt = fromInput ? await readAll(world.stdin) : positionals.join(' ');
  if (prompt.trim() === '') throw new UsageError('The prompt is empty.');

  const terminal = new Terminal(world, { remarks: !values.json && (values.verbose || world.stderr.isTTY === true) });
  const trace = openTrace('--trace', values.trace, launch.command);
  const interrupt = new Interrupt(world);
  try {
    const options = { ...launch, ...trace.options };
    const { result, parsed, ...about } = await turn(world, values, options, prompt, interrupt, terminal);
    // As everywhere: an agent that gives no reason is taken at its word.
    const clean = result.stopReason === 'end_turn' || result.stopReason === '';
    const signedOut = clean && world.api().isSignInNotice(result.text);
    const missing = values['recover-json'] === true && parsed === undefined;
    const ok = clean && !signedOut && !missing;
    if (values.json) {
      const { text, usage } = result;
      const stopReason = result.stopReason || undefined;
      const noJson = result.textTruncated ? CUT : 'The answer has no JSON.';
      const problem = signedOut ? SIGNED_OUT : clean ? noJson : `The turn ended with ${stopReason}.`;
      const code = signedOut ? 'sign_in_required' : clean ? 'no_json' : 'abnormal_stop';
      const error = ok ? undefined : { code, phase: 'prompt', message: problem };
      terminal.answer(`${JSON.stringify({ ok, stopReason, text, parsed, usage, ...about, error }, undefined, 2)}\n`);
    } else {
      if (parsed !== undefined) terminal.answer(`${JSON.stringify(parsed, undefined, 2)}\n`);
      terminal.endAnswer();
      if (signedOut) terminal.problem(`acp: ${SIGNED_OUT} [sign_in_required]`);
      else if (missing) terminal.problem(`acp: ${result.textTruncated ? CUT : 'the answer has no JSON'}`);
      if (!clean && interrupt.exitCode === undefined) terminal.problem(`acp: the turn ended with ${result.stopReason}`);
    }
    return interrupt.exitCode ?? (ok ? exitCodes.ok : exitCodes.failed);
  } catch (error) {
    terminal.settle();
    if (values.json) terminal.answer(`${JSON.stringify(failureDocument(error), undefined, 2)}\n`);
    else if (interrupt.exitCode === undefined) terminal.problem(failureText(error));
    return interrupt.exitCode ?? exitCodeFor(/** @type {any} */ (error)?.code);
  } finally {
    terminal.settle();
    interrupt.dispose();
    trace.close();
  }
}

module.exports = { ask, failureText };
