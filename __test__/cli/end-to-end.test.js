'use strict';

// The command line as its users start it: a process, the addon, an agent.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');

const { defaultAgentPath } = require('../../lib/default-agent');

const root = path.join(__dirname, '..', '..');
const skip = process.platform === 'win32' && 'signals reach no process on Windows';

/** @param {string[]} args @param {import('node:child_process').SpawnOptionsWithoutStdio} [options] */
function start(args, options) {
  const child = spawn(process.execPath, [path.join(root, 'bin', 'acp.js'), ...args], options);
  const seen = { child, stdout: '', stderr: '', ended: once(child, 'close').then(([code]) => code) };
  child.stdout.on('data', (part) => {
    seen.stdout += part;
  });
  child.stderr.on('data', (part) => {
    seen.stderr += part;
  });
  return seen;
}

/** @param {string[]} args @param {string} [input] */
async function acp(args, input = '') {
  const seen = start(args);
  seen.child.stdin.end(input);
  return { code: await seen.ended, stdout: seen.stdout, stderr: seen.stderr };
}

/** A folder of its own for a test. @param {import('node:test').TestContext} t */
function folder(t) {
  const made = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-cli-')));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** The demo agent, started by a script that notes its process id. @param {string} directory */
function notedAgent(directory) {
  const note = path.join(directory, 'pid');
  const script = path.join(directory, 'agent.js');
  const source = [
    `require('node:fs').writeFileSync(${JSON.stringify(note)}, String(process.pid));`,
    `require(${JSON.stringify(defaultAgentPath())});`,
  ];
  fs.writeFileSync(script, source.join('\n'));
  return { args: ['--cmd', process.execPath], rest: ['--', script], pid: () => Number(fs.readFileSync(note, 'utf8')) };
}

/** @param {number} pid */
function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits for what a running command is about to print. @param {ReturnType<typeof start>} seen @param {RegExp} pattern */
async function printed(seen, pattern) {
  while (!pattern.test(seen.stdout)) {
    assert.equal(seen.child.exitCode, null, `it ended without: ${seen.stderr}`);
    await sleep(10);
  }
}

test('asks the demo agent and streams its answer', async () => {
  const { code, stdout, stderr } = await acp(['ask', 'hello', 'there']);
  assert.equal(stderr, '');
  assert.equal(stdout, 'I am the built-in demo agent of fusion-acp-runtime, not a model.\nYou wrote 2 words: hello there\n');
  assert.equal(code, 0);
});

test('takes the prompt from standard input', async () => {
  const { code, stdout } = await acp(['ask', '-'], 'from a pipe');
  assert.match(stdout, /You wrote 3 words: from a pipe\n$/);
  assert.equal(code, 0);
});

test('prints one document with --json', async () => {
  const { code, stdout } = await acp(['ask', '--json', '--recover-json', '[json] hi']);
  const { ok, stopReason, text, parsed, agent, protocolVersion, usage } = JSON.parse(stdout);
  assert.equal(code, 0);
  assert.deepEqual([ok, stopReason, protocolVersion, agent.name], [true, 'end_turn', 1, 'fusion-acp-default-agent']);
  assert.deepEqual(parsed, { agent: 'fusion-acp-default-agent', prompt: 'hi', words: 1 });
  assert.match(text, /not a model/);
  assert.ok(usage.totalTokens > 0);
});

test('tells with --verbose what the agent does', async () => {
  const { stderr } = await acp(['ask', '--verbose', 'hello']);
  assert.match(stderr, /\[plan\] ✓ Read the prompt/);
  assert.match(stderr, /\[tool\] Count the words of the prompt\n\[tool\] completed/);
});

test('exits as the turn ended', async () => {
  const refused = await acp(['ask', '[refuse]']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /ended with refusal/);
  const failed = await acp(['ask', '--json', '[fail]']);
  assert.equal(failed.code, 1);
  const { ok, error } = JSON.parse(failed.stdout);
  assert.deepEqual([ok, error.code, error.phase, error.rpc.code], [false, 'agent_error', 'prompt', -32603]);
  const crashed = await acp(['ask', '[crash]']);
  assert.equal(crashed.code, 1);
  assert.match(crashed.stderr, /exit code 3/);
  assert.match(crashed.stderr, /asked to crash/);
});

test('exits with 127 where there is no program, and with 124 where there is no handshake', async () => {
  const nothing = path.join(os.tmpdir(), 'no-such-agent');
  assert.equal((await acp(['ask', '--cmd', nothing, 'hi'])).code, 127);
  assert.equal((await acp(['probe', '--cmd', nothing])).code, 127);
  const mute = ['--timeout', '400', '--cmd', process.execPath];
  const rest = ['--', '-e', 'setInterval(() => {}, 1000)'];
  assert.equal((await acp(['ask', ...mute, 'hi', ...rest])).code, 124);
  assert.equal((await acp(['probe', ...mute, ...rest])).code, 124);
});

test('probes', async () => {
  const { code, stdout } = await acp(['probe']);
  assert.equal(stdout, 'ready: ACP version 1\n');
  assert.equal(code, 0);
  const asks = await acp(['probe', '--json', '--cmd', process.execPath, '--', defaultAgentPath(), '--require-auth']);
  assert.equal(JSON.parse(asks.stdout).authRequired, true);
});

test('allows what it was told to, and nothing else', async (t) => {
  const cwd = folder(t);
  const file = path.join(cwd, 'out.txt');
  assert.match((await acp(['ask', '[permission]'])).stdout, /denied permission/);
  assert.match((await acp(['ask', '--allow', '[permission]'])).stdout, /gave permission/);
  assert.match((await acp(['ask', '--cwd', cwd, '--allow', '[write:out.txt]'])).stdout, /offers no writing/);
  assert.equal(fs.existsSync(file), false);
  assert.match((await acp(['ask', '--cwd', cwd, '--allow', '--write', '[write:out.txt]'])).stdout, /was written/);
  const { size } = fs.statSync(file);
  assert.match((await acp(['ask', '--cwd', cwd, '--read', '[read:out.txt]'])).stdout, new RegExp(`has ${size} characters`));
  assert.match((await acp(['ask', '--read', `[read:${file}]`])).stdout, /answered with the error/);
  const ran = await acp(['ask', '--cwd', cwd, '--allow', '--terminal', '[terminal:node --version]']);
  assert.ok(ran.stdout.includes(`printed: ${process.version}`), ran.stdout);
});

test('hands on no variable unasked', async (t) => {
  const script = path.join(folder(t), 'agent.js');
  // Answers nothing: its environment is in what it leaves on standard error.
  fs.writeFileSync(script, "process.stderr.write(`[${process.env.MARKED} ${process.env.GIVEN}]`); process.exit(1);");
  const seen = start(['ask', '--env', 'GIVEN=yes', '--cmd', process.execPath, 'hi', '--', script], {
    env: { ...process.env, MARKED: 'unasked' },
  });
  assert.equal(await seen.ended, 1);
  assert.match(seen.stderr, /\[undefined yes\]/);
});

for (const [signal, expected] of /** @type {const} */ ([['SIGINT', 130], ['SIGTERM', 143]])) {
  test(`${signal} ends the turn and the agent`, { skip }, async (t) => {
    const agent = notedAgent(folder(t));
    const seen = start(['ask', ...agent.args, '[plain] [hang]', ...agent.rest]);
    await printed(seen, /I wait/);
    seen.child.kill(signal);
    assert.equal(await seen.ended, expected);
    assert.equal(alive(agent.pid()), false);
  });
}

test('a reader that goes away ends the turn and the agent', async (t) => {
  const agent = notedAgent(folder(t));
  const seen = start(['ask', ...agent.args, '[plain] [flood:1000000]', ...agent.rest]);
  await printed(seen, /./);
  seen.child.stdout.destroy();
  assert.equal(await seen.ended, 130);
  assert.equal(alive(agent.pid()), false);
});
