'use strict';

// Launches the scripted fake agent (crates/acp-testkit) from JavaScript tests.

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

/**
 * How to start an agent.
 * @typedef {{ command: string, args: string[] }} Launch
 */

/**
 * One step of a script, for example `{ do: 'expect', method: 'initialize' }`. All of them are in crates/acp-testkit/README.md.
 * @typedef {{ do: string, [argument: string]: unknown }} Step
 */

const ROOT = path.join(__dirname, '..', '..');
const SUFFIX = process.platform === 'win32' ? '.exe' : '';
/** Longer scripts go to a file: Linux takes 128 KiB for one argument, Windows 32 KiB for all. */
const LONGEST_ARGUMENT = 8000;

/** @type {Map<string, string>} */
const found = new Map();

/** @type {string | undefined} */
let scripts;

/**
 * The path of a binary of the test kit: from its environment variable, from the target directory, or from a build.
 * @param {'fake-agent' | 'flood-agent'} name
 * @param {string} variable
 * @returns {string}
 */
function binary(name, variable) {
  const known = found.get(name);
  if (known !== undefined) return known;
  const override = process.env[variable];
  if (override) {
    if (!fs.existsSync(override)) throw new Error(`${variable} names ${override}, which does not exist`);
    found.set(name, override);
    return override;
  }
  const target = process.env.CARGO_TARGET_DIR || path.join(ROOT, 'target');
  const built = path.join(target, process.env.CARGO_BUILD_TARGET ?? '', 'debug', name + SUFFIX);
  const file = fs.existsSync(built) ? built : build(name, variable);
  found.set(name, file);
  return file;
}

/**
 * Builds the workspace and finds the binary in what cargo reports, wherever its target directory is.
 * @param {string} name
 * @param {string} variable
 * @returns {string}
 */
function build(name, variable) {
  const hint = `${name} is not built. Build it with \`cargo build --workspace\`, or set ${variable} to its path.`;
  let report;
  try {
    report = execFileSync('cargo', ['build', '--workspace', '--message-format=json'], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw new Error(`${hint} Building it failed: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  for (const line of report.split('\n')) {
    if (!line.startsWith('{')) continue;
    const message = JSON.parse(line);
    if (message.reason === 'compiler-artifact' && message.target.name === name && message.executable) {
      return message.executable;
    }
  }
  throw new Error(`${hint} The build succeeded but made no such binary.`);
}

/**
 * The path of the fake agent.
 * @returns {string}
 */
function fakeAgent() {
  return binary('fake-agent', 'ACP_FAKE_AGENT');
}

/**
 * The path of the flood agent.
 * @returns {string}
 */
function floodAgent() {
  return binary('flood-agent', 'ACP_FLOOD_AGENT');
}

/**
 * An agent that plays these steps. `args` are `{{args.0}}`, … in them.
 * @param {Step[]} steps
 * @param {string[]} [args]
 * @returns {Launch}
 */
function script(steps, args = []) {
  const text = JSON.stringify(steps);
  const given = text.length > LONGEST_ARGUMENT ? [scriptFile(steps)] : ['--script', text];
  return { command: fakeAgent(), args: [...given, ...args] };
}

/**
 * Writes steps to a file that is removed when this process ends.
 * @param {Step[]} steps
 * @returns {string}
 */
function scriptFile(steps) {
  if (scripts === undefined) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-agent-scripts-'));
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    scripts = folder;
  }
  const file = path.join(scripts, `${fs.readdirSync(scripts).length}.jsonl`);
  fs.writeFileSync(file, steps.map((step) => `${JSON.stringify(step)}\n`).join(''));
  return file;
}

/**
 * An agent that plays a ready case of crates/acp-testkit/src/cases, by its name.
 * @param {string} name
 * @param {string[]} [args]
 * @returns {Launch}
 */
function fieldCase(name, args = []) {
  return { command: fakeAgent(), args: ['--case', name, ...args] };
}

/**
 * The names that `fieldCase` knows.
 * @returns {string[]}
 */
function fieldCases() {
  return execFileSync(fakeAgent(), ['--list-cases'], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

/**
 * An agent that answers each prompt with a flood of updates.
 * @param {{ kind?: 'text' | 'tools' | 'line' | 'cumulative', count?: number, writeBytes?: number }} [options] `count` is in
 *   updates, pairs of tool updates, or megabytes of the line.
 * @returns {Launch}
 */
function flood({ kind = 'text', count = 1000, writeBytes } = {}) {
  const args = ['--kind', kind, '--count', String(count)];
  if (writeBytes !== undefined) args.push('--write-bytes', String(writeBytes));
  return { command: floodAgent(), args };
}

/**
 * The same agent behind a shell that stays alive as long as it does, the way package runners do. Unix only.
 * @param {Launch} launch
 * @returns {Launch}
 */
function behindShell({ command, args }) {
  return { command: 'sh', args: ['-c', '"$0" "$@" ; :', command, ...args] };
}

/**
 * The steps of a turn in session `s1`: what opens it, what happens in it, and its end.
 * @param {Step[]} [during]
 * @param {string} [stopReason]
 * @returns {Step[]}
 */
function turn(during = [], stopReason = 'end_turn') {
  return [
    { do: 'initialize' },
    { do: 'session_new', sessionId: 's1' },
    { do: 'prompt_begin' },
    ...during,
    { do: 'prompt_end', stopReason },
  ];
}

module.exports = { behindShell, fakeAgent, fieldCase, fieldCases, flood, floodAgent, script, turn };
