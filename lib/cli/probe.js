'use strict';

const { agentFrom, agentHelp, agentOptions, parse, timeoutFrom } = require('./agent-options');
const { exitCodeFor, exitCodes, UsageError } = require('./exit-codes');
const { Terminal } = require('./terminal');

const options = /** @type {const} */ ({ ...agentOptions, deep: { type: 'boolean' } });

const help = `Usage: acp probe [options]

Starts an agent, does the ACP handshake, and ends it: is this agent ready to be used?

${agentHelp}

  --deep                    opens a session, too, which tells whether the agent wants to be signed in
  --timeout <ms>            how long the handshake may take (default: 30000), and again the session
  --json                    one JSON document: what the agent says of itself, how long it took, what went wrong

Exit codes: 0 ready, 1 not ready, 2 wrong usage, 124 no handshake in time, 127 program not found`;

/**
 * Everything that a probe found, which a status shows only in part.
 *
 * @param {import('../../types/probe').AcpProbeStatus} status
 */
function documentOf(status) {
  const { agent, elapsedMs, stderrTail, error } = status;
  if (error === undefined) return { ...status, ...agent, elapsedMs, stderrTail };
  const { code, phase, message, rpc, exit, retryable, extra } = error;
  return { ...status, ...agent, elapsedMs, stderrTail, error: { code, phase, message, rpc, exit, retryable, extra } };
}

/** @type {import('./types').Command} */
async function probe(world, args) {
  const { values, positionals, rest } = parse(args, options);
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
  const more = { ...(timeoutMs && { timeoutMs }), ...(values.deep && { deep: true }) };
  const status = await probeAcpReadiness({ binaryPath: command, args: agentArgs, cwd, env, ...more });
  terminal.settle();
  if (values.json) terminal.answer(`${JSON.stringify(documentOf(status), undefined, 2)}\n`);
  else if (status.ok) {
    const login = status.authRequired ? ', authentication offered by the agent' : '';
    terminal.answer(`ready: ACP version ${status.protocolVersion}${login}\n`);
  } else terminal.problem(`not ready: ${status.reason}${status.detail ? `: ${status.detail}` : ''}`);
  return status.ok ? exitCodes.ok : exitCodeFor(status.reason);
}

module.exports = { probe };
