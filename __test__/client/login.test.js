'use strict';

// Signing in. A method for a terminal is a command for a person: it never goes to `authenticate`, and its program is the
// launch's own (rules C16 to C19).

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { answered, end, scripted } = require('../support/scripted.js');

const ROOT = path.join(__dirname, '..', '..');
const AGENT = path.join(__dirname, '..', 'support', 'login-agent.js');
const TERMINAL = { id: 'tty', name: 'Terminal', type: 'terminal', args: ['login', '--now'], env: { MODE: 'login' } };
const PLAIN = { id: 'key', name: 'Key' };

/** @param {any[]} authMethods @param {any[]} [steps] @param {any} [options] */
function offering(authMethods, steps = [], options = {}) {
  return scripted([{ do: 'initialize', result: { authMethods } }, ...steps, ...answered('_test/done')], options);
}

test('a terminal method never goes to authenticate, by whatever way', async () => {
  const client = await offering([TERMINAL, PLAIN], answered('authenticate', { $exact: { methodId: 'key' } }));
  await assert.rejects(client.authenticate('tty'), { code: 'invalid_argument' });
  await assert.rejects(client.request('authenticate', { methodId: 'tty' }), { code: 'invalid_argument' });
  await assert.rejects(client.authenticate('unknown'), { code: 'invalid_argument' });
  await client.authenticate('key');
  await client.request('_test/done');
  await end(client);
  for (const authenticate of [true, { methodId: 'tty' }, { preferMethods: ['tty'] }]) {
    const quiet = await offering([TERMINAL], [], { authenticate });
    await quiet.request('_test/done');
    await end(quiet);
  }
  await assert.rejects(offering([TERMINAL], [], { authenticate: { methodId: 'tty', require: true } }), { code: 'acp_auth_required' });
});

test('the capability is told only when it was asked for, and a logout only to who can', async () => {
  for (const terminalAuth of [true, false]) {
    const expected = terminalAuth ? { auth: { terminal: true } } : { auth: { $absent: true } };
    const client = await scripted([{ do: 'initialize', params: { clientCapabilities: expected } }, ...answered('_test/done')], { terminalAuth });
    await assert.rejects(client.logout(), { code: 'unsupported_capability' });
    await client.request('_test/done');
    await end(client);
  }
});

test('c18_the_command_is_the_launch_with_what_the_method_adds', async () => {
  const client = await offering([TERMINAL, PLAIN, { ...TERMINAL, id: 'bare', args: undefined, env: undefined }], [], { env: { A: '1', MODE: 'x' } });
  const login = client.loginCommand('tty');
  assert.deepEqual(login.args.slice(-2), ['login', '--now']);
  assert.deepEqual(login.env, { A: '1', MODE: 'login' });
  assert.equal(login.cwd, process.cwd());
  assert.deepEqual(client.loginCommand('bare').args, login.args.slice(0, -2));
  assert.equal(client.loginCommand('bare').command, login.command);
  for (const id of ['key', 'unknown']) assert.throws(() => client.loginCommand(id), { code: 'invalid_argument' });
  await client.request('_test/done');
  await end(client);
});

test('a method that would change the program, or cannot be run, is refused', async () => {
  const bad = [
    { args: 'text' }, { args: [1] }, { args: ['a\0b'] }, { args: Array(65).fill('a') }, { args: ['x'.repeat(9000)] },
    { env: [] }, { env: { A: 1 } }, { env: { 'A=B': 'c' } }, { env: { A: 'b\0' } },
    ...['PATH', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'PYTHONPATH', 'BASH_ENV', 'ld_preload',
      'npm_config_registry', 'NPM_CONFIG_NODE_OPTIONS', 'UV_INDEX_URL', 'PIP_INDEX_URL', 'PYTHONINSPECT', 'NODE_REPL_EXTERNAL_MODULE',
      'BUN_INSTALL', 'DENO_DIR', 'HOME', 'XDG_CONFIG_HOME', 'OPENSSL_CONF', 'GLIBC_TUNABLES', 'DOTNET_STARTUP_HOOKS', 'DOCKER_HOST',
      'GIT_SSH_COMMAND', 'GOFLAGS', 'FUSION_ACP_TREE'].map((name) => ({ env: { [name]: 'x' } })),
  ];
  const methods = bad.map((more, i) => ({ ...TERMINAL, ...more, id: `m${i}` }));
  const client = await offering(methods);
  for (const { id } of methods) assert.throws(() => client.loginCommand(id), { code: 'malformed_response' }, JSON.stringify(bad[Number(id.slice(1))]));
  await client.request('_test/done');
  await end(client);
});

test('a session that wants authentication says so, and goes on after it', async () => {
  const client = await offering([PLAIN], [
    { do: 'expect', method: 'session/new' },
    { do: 'respond', error: { code: -32000, message: 'Authentication required' } },
    ...answered('authenticate'),
    { do: 'session_new' },
    { do: 'expect', method: 'session/prompt' },
    { do: 'respond', error: { code: -32000, message: 'Authentication required' } },
    ...answered('authenticate'),
    { do: 'prompt_begin' }, { do: 'prompt_end' },
  ]);
  await assert.rejects(client.newSession(), (/** @type {any} */ error) => {
    assert.deepEqual([error.code, error.availableMethodIds], ['acp_auth_required', ['key']]);
    return true;
  });
  await client.authenticate('key');
  const session = await client.newSession();
  await assert.rejects(session.prompt('x'), { code: 'acp_auth_required' });
  await client.authenticate('key');
  assert.equal((await session.prompt('x')).stopReason, 'end_turn');
  await client.request('_test/done');
  await end(client);
});

/**
 * Runs `acp login` against the agent that wants it.
 *
 * @param {import('node:test').TestContext} t
 * @param {any[]} methods
 * @param {string[]} args
 */
async function login(t, methods, args = []) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'acp-login-')));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const state = path.join(folder, 'state');
  const argv = [
    path.join(ROOT, 'bin', 'acp.js'), 'login', '--cwd', folder, '--env', `LOGIN_METHODS=${JSON.stringify(methods)}`, ...args,
    '--cmd', process.execPath, '--', AGENT, state,
  ];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part) => (stdout += part));
  child.stderr.on('data', (part) => (stderr += part));
  const [code] = await once(child, 'close');
  const read = (/** @type {string} */ file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');
  return { code, stdout, stderr, folder, ran: read(state), log: read(`${state}.log`) };
}

test('c18_acp_login_runs_the_program_itself_in_the_terminal_then_checks_that_it_worked', async (t) => {
  const { code, stdout, stderr, ran, log, folder } = await login(t, [TERMINAL]);
  assert.deepEqual([code, stdout], [0, 'signed in\n'], stderr);
  const { args, env, cwd } = JSON.parse(ran);
  assert.deepEqual(args, ['login', '--now']);
  assert.equal(env.MODE, 'login');
  assert.equal(cwd, folder);
  // Launched twice: once to learn how, once to see whether it helped.
  assert.deepEqual(log.trim().split('\n').map((line) => JSON.parse(line).auth), [{ terminal: true }, { terminal: true }]);
});

test('a login that fails is no success', async (t) => {
  const { code, stderr, log } = await login(t, [{ ...TERMINAL, env: { LOGIN_EXIT: '3' } }]);
  assert.equal(code, 1);
  assert.match(stderr, /not signed in: it ended with exit code 3/);
  assert.equal(log.trim().split('\n').length, 1);
});

test('acp login calls a method that is none for a terminal, and lets people choose', async (t) => {
  const methods = [TERMINAL, PLAIN];
  const listed = await login(t, methods, ['--list']);
  assert.deepEqual([listed.code, listed.stdout], [0, 'tty Terminal (in a terminal)\nkey Key\n'], listed.stderr);
  const asked = await login(t, methods);
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /Choose one with --method/);
  assert.equal((await login(t, methods, ['--method', 'ghost'])).code, 2);
  const called = await login(t, methods, ['--method', 'key']);
  assert.deepEqual([called.code, called.stdout], [0, 'signed in\n'], called.stderr);
  assert.match(called.log, /authenticate key/);
  const none = await login(t, []);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /offers no way to sign in/);
});
