'use strict';

const path = require('node:path');
const { parseArgs } = require('node:util');

const { defaultAgentPath } = require('../default-agent');
const { splitCommandLine } = require('./command-line');
const { UsageError } = require('./exit-codes');

/** @typedef {import('node:util').ParseArgsConfig['options']} Options */

/** What an agent gets of this environment without being asked for: enough to be found and to start, and no secret. */
const DEFAULT_ENV = Object.freeze([
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR',
  // Windows
  'SystemRoot', 'SystemDrive', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'USERNAME', 'HOMEDRIVE', 'HOMEPATH',
  'APPDATA', 'LOCALAPPDATA', 'ProgramData', 'ProgramFiles',
]);

/** The options of every command that starts an agent. */
const agentOptions = /** @type {const} */ ({
  agent: { type: 'string' },
  cmd: { type: 'string' },
  cwd: { type: 'string' },
  env: { type: 'string', multiple: true },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  verbose: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
});

const agentHelp = `The agent:
  --agent "<command line>"  the agent's program and arguments in one; quotes hold words together, no shell is started
  --cmd <program>           the program alone; its arguments follow --
                            without either: the built-in demo agent, which is not a model
  --cwd <folder>            where it works (default: here)
  --env <NAME>              hands this variable on to it, or sets it: NAME=value; may be repeated.
                            Only PATH, HOME and the like are handed on without it`;

/**
 * Parses the arguments of a command. What follows `--` is kept apart.
 *
 * @template {NonNullable<Options>} O
 * @param {string[]} args
 * @param {O} options
 */
function parse(args, options) {
  const at = args.indexOf('--');
  const own = at === -1 ? args : args.slice(0, at);
  const rest = at === -1 ? undefined : args.slice(at + 1);
  try {
    const { values, positionals } = parseArgs({ args: own, options, allowPositionals: true, strict: true });
    return { values, positionals, rest };
  } catch (error) {
    // What Node advises beside the error does not hold here: arguments after -- are the agent's.
    throw new UsageError((error instanceof Error ? error.message : String(error)).replace(/ To specify a positional .*$/s, ''));
  }
}

/**
 * The program to start, from what the command line says.
 *
 * @param {{ agent?: string, cmd?: string, cwd?: string, env?: string[] }} values
 * @param {string[] | undefined} rest What followed `--`.
 * @param {(names: string[]) => NodeJS.ProcessEnv} buildEnv Picks variables of this environment by their names.
 */
function agentFrom(values, rest, buildEnv) {
  const { agent, cmd } = values;
  if (agent !== undefined && cmd !== undefined) throw new UsageError('Use either --agent or --cmd.');
  if (rest !== undefined && cmd === undefined) throw new UsageError('Arguments after -- need --cmd.');
  /** @type {[string, ...string[]]} */
  let words = [process.execPath, defaultAgentPath()];
  if (agent !== undefined) words = splitCommandLine(agent);
  if (cmd !== undefined) words = [cmd, ...(rest ?? [])];
  const [command, ...args] = words;
  if (command === '') throw new UsageError('--cmd names no program.');

  const names = [...DEFAULT_ENV];
  /** @type {Record<string, string>} */
  const set = {};
  for (const entry of values.env ?? []) {
    const [, name, value] = /^([^=]+)(?:=([^]*))?$/.exec(entry) ?? [];
    if (name === undefined) throw new UsageError(`--env takes NAME or NAME=value, not ${JSON.stringify(entry)}.`);
    if (value === undefined) names.push(name);
    else set[name] = value;
  }
  /** @type {Record<string, string>} */
  const env = {};
  for (const [name, value] of Object.entries({ ...buildEnv(names), ...set })) {
    if (value !== undefined) env[name] = value;
  }
  return { command, args, cwd: path.resolve(values.cwd ?? '.'), env };
}

/**
 * @param {string | undefined} text
 * @returns {number | undefined} Milliseconds.
 */
function timeoutFrom(text) {
  if (text === undefined) return undefined;
  const milliseconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  // More than a timer can hold would end at once.
  if (!(milliseconds > 0 && milliseconds < 2 ** 31)) {
    throw new UsageError(`--timeout takes milliseconds, not ${JSON.stringify(text)}.`);
  }
  return milliseconds;
}

module.exports = { agentOptions, agentHelp, parse, agentFrom, timeoutFrom };
