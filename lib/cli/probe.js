'use strict';

const { agentFrom, agentHelp, agentOptions, parse, timeoutFrom } = require('./agent-options');
const { exitCodeFor, exitCodes, UsageError } = require('./exit-codes');
const { Terminal } = require('./terminal');

const help = `Usage: acp probe [options]

Starts an agent, does the ACP handshake, and ends it: is this agent ready to be used?

${agentHelp}

  --timeout <ms>            how long the handshake may take (default: 30000)
  --json                    one JSON document

Exit codes: 0 ready, 1 not ready, 2 wrong usage, 124 no handshake in time, 127 program not found`;

/** @type {import('./types').Command} */
async function probe(world, args) {
  const { values, positionals, rest } = parse(args, agentOptions);
  if (values.help) {
    world.stdout.write(`${help}\n`);
    return exitCodes.ok;
  }
  if (positionals.length > 0) throw new UsageError(`What is ${JSON.stringify(positionals[0])}? A command line goes with --agent.`);
  const timeoutMs = timeoutFrom(values.timeout);
  const { buildSpawnEnv, probeAcpReadiness } = world.api();
  const { command, args: agentArgs, cwd, env } = agentFrom(values, rest, buildSpawnEnv);

  const terminal = new Terminal(world, { remarks: true });
  terminal.wait('waiting for the handshake');
  const status = await probeAcpReadiness({ binaryPath: command, args: agentArgs, cwd, env, ...(timeoutMs && { timeoutMs }) });
  terminal.settle();
  if (values.json) terminal.answer(`${JSON.stringify(status, undefined, 2)}\n`);
  else if (status.ok) {
    const login = status.authRequired ? ', authentication offered by the agent' : '';
    terminal.answer(`ready: ACP version ${status.protocolVersion}${login}\n`);
  } else terminal.problem(`not ready: ${status.reason}${status.detail ? `: ${status.detail}` : ''}`);
  return status.ok ? exitCodes.ok : exitCodeFor(status.reason);
}

module.exports = { probe };
