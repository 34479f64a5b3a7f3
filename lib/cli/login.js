'use strict';

const { spawn } = require('node:child_process');

const { agentFrom, agentHelp, agentOptions, parse, timeoutFrom } = require('./agent-options');
const { failureText } = require('./ask');
const { exitCodeFor, exitCodes, UsageError } = require('./exit-codes');
const { Interrupt } = require('./interrupt');
const { oneLine, Terminal } = require('./terminal');

const help = `Usage: acp login [options]

Signs in to an agent with one of the ways that it offers, then checks that it worked. A way
that needs a terminal runs the agent's own program in this one.

${agentHelp}

  --method <id>             which way (default: the only one there is)
  --list                    only lists the ways
  --timeout <ms>            how long the handshake may take (default: 30000)
  -v, --verbose             tells what is done also where standard error is no terminal

Exit codes: 0 signed in, 1 not signed in, 2 wrong usage, 124 no handshake in time,
127 program not found, 130 interrupted`;

const { json, ...shared } = agentOptions;
const options = /** @type {const} */ ({
  ...shared,
  method: { type: 'string' },
  list: { type: 'boolean' },
});

/**
 * One way to sign in, for a person.
 *
 * @param {any} method
 */
function described({ id, name, description, type }) {
  const more = typeof description === 'string' && description !== '' ? `: ${description}` : '';
  return oneLine(`${id}  ${name ?? ''}${more}${type === 'terminal' ? ' (in a terminal)' : ''}`);
}

/**
 * @param {any[]} methods What the agent advertises.
 * @param {string | undefined} wanted
 */
function chosen(methods, wanted) {
  const found = wanted === undefined ? methods : methods.filter(({ id }) => id === wanted);
  if (found.length === 1) return found[0];
  const list = methods.map((method) => `\n  ${described(method)}`).join('');
  if (wanted !== undefined) throw new UsageError(`The agent does not offer ${JSON.stringify(wanted)}. It offers:${list}`);
  throw new UsageError(`There are several ways to sign in. Choose one with --method:${list}`);
}

/**
 * Runs the agent's own program in this terminal. Ctrl-C reaches it without our help; a request to end does not.
 *
 * @param {import('../../types/client').LoginCommand} login
 * @param {Interrupt} interrupt
 * @returns {Promise<string | undefined>} How it failed, if it did.
 */
function inTerminal({ command, args, cwd, env }, interrupt) {
  const { TERM, COLORTERM } = process.env;
  const look = { ...(TERM !== undefined && { TERM }), ...(COLORTERM !== undefined && { COLORTERM }) };
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...look, ...env }, stdio: 'inherit', shell: false });
    const end = () => void (interrupt.exitCode === exitCodes.terminated && child.kill());
    interrupt.signal.addEventListener('abort', end, { once: true });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`));
  });
}

/**
 * Whether the agent takes a session now.
 *
 * @param {import('../../types/client').AcpClient} client
 * @param {AbortSignal} signal
 */
async function takesSession(client, signal) {
  const session = await client.newSession({ signal });
  await session.close();
}

/** @type {import('./types').Command} */
async function login(world, args) {
  const { values, positionals, rest } = parse(args, options);
  if (values.help) {
    world.stdout.write(`${help}\n`);
    return exitCodes.ok;
  }
  if (positionals.length > 0) throw new UsageError(`What is ${JSON.stringify(positionals[0])}? A way to sign in goes with --method.`);
  const timeoutMs = timeoutFrom(values.timeout);
  const { AcpClient, buildSpawnEnv } = world.api();
  const agent = agentFrom(values, rest, buildSpawnEnv);
  const terminal = new Terminal(world, { remarks: values.verbose === true || world.stderr.isTTY === true });
  const interrupt = new Interrupt(world);
  const launch = () => AcpClient.launch({
    ...agent,
    terminalAuth: true,
    signal: interrupt.signal,
    ...(timeoutMs !== undefined && { initializeTimeoutMs: timeoutMs }),
  });

  let client;
  try {
    client = await launch();
    const methods = client.authMethods;
    if (values.list) {
      terminal.answer(methods.map((method) => `${described(method)}\n`).join(''));
      return exitCodes.ok;
    }
    if (methods.length === 0) {
      terminal.problem('acp: the agent offers no way to sign in');
      return exitCodes.failed;
    }
    const method = chosen(methods, values.method);
    if (method.type === 'terminal') {
      const command = client.loginCommand(method.id);
      await client.close();
      terminal.remark(`[login] ${[command.command, ...command.args].join(' ')}`);
      terminal.settle();
      const failure = await inTerminal(command, interrupt);
      if (failure !== undefined) {
        terminal.problem(`acp: not signed in: ${failure}`);
        return interrupt.exitCode ?? exitCodes.failed;
      }
      client = await launch();
    } else {
      terminal.wait('waiting for the agent to sign in');
      // A person is at work here: as long as it takes.
      await client.authenticate(method.id, { signal: interrupt.signal, timeoutMs: 0 });
    }
    terminal.wait('checking');
    await takesSession(client, interrupt.signal);
    terminal.settle();
    terminal.answer('signed in\n');
    return exitCodes.ok;
  } catch (error) {
    terminal.settle();
    if (error instanceof UsageError) throw error;
    if (interrupt.exitCode === undefined) terminal.problem(failureText(error));
    return interrupt.exitCode ?? exitCodeFor(/** @type {any} */ (error)?.code);
  } finally {
    terminal.settle();
    await client?.close();
    interrupt.dispose();
  }
}

module.exports = { login };
