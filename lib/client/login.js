'use strict';

const { AcpError } = require('../errors.js');

/** Most arguments, and most variables, that a method adds. */
const MAX_ENTRIES = 64;
/** The longest of them, in UTF-16 code units. */
const MAX_LENGTH = 8192;

/**
 * Variables that change what the program is, not what it does. The launch may be a sandbox, whose own start the agent
 * in it must not steer.
 */
const REFUSED = new RegExp(`^(?:${[
  // What a shell, a loader or the C library looks at.
  'PATH|IFS|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|ZDOTDIR|SHELL|LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH',
  'OPENSSL_(?:CONF|ENGINES|MODULES)|SSLKEYLOGFILE',
  // Where the settings of everything else are.
  'HOME|USERPROFILE|APPDATA|LOCALAPPDATA|XDG_.*|TMPDIR|TEMP|TMP|COMSPEC|PATHEXT|SYSTEMROOT|WINDIR|PSMODULEPATH',
  // Runtimes.
  'NODE_.*|BUN_.*|DENO_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|LUA_.*|PHP.*|DOTNET_.*|CORECLR_.*|COR_.*',
  'CLASSPATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|ELECTRON_RUN_AS_NODE',
  // Runners of packages, which choose what is downloaded; containers; the version control that some ask.
  'NPM_.*|YARN_.*|PNPM_.*|PIP_.*|PIPX_.*|UV_.*|CARGO_.*|RUSTUP_.*|GO(?:BIN|ENV|FLAGS|PATH|PROXY|ROOT|SUMDB|TOOLCHAIN)|DOCKER_.*|CONTAINER_.*|GIT_.*',
  // This package's own.
  'FUSION_.*',
].join('|')})$`, 'i');

/** @param {string} why */
function malformed(why) {
  return new AcpError('malformed_response', `the agent's login method ${why}`, { phase: 'authenticate' });
}

/** @param {unknown} text */
function plain(text) {
  return typeof text === 'string' && text.length <= MAX_LENGTH && !text.includes('\0');
}

/** @param {any} method */
function argsOf(method) {
  const args = method.args ?? [];
  if (!Array.isArray(args) || args.length > MAX_ENTRIES || !args.every(plain)) throw malformed('has no usable arguments');
  return args;
}

/** @param {any} method @returns {Record<string, string>} */
function envOf(method) {
  const env = method.env ?? {};
  if (typeof env !== 'object' || Array.isArray(env)) throw malformed('has no usable environment');
  const entries = Object.entries(env);
  if (entries.length > MAX_ENTRIES) throw malformed('has too many variables');
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || !plain(value)) throw malformed('has a variable that cannot be set');
    if (REFUSED.test(name)) throw malformed(`sets ${name}, which would change what runs`);
  }
  return Object.fromEntries(entries);
}

/**
 * What a person runs to sign in: the launch's own program and arguments, then the method's arguments, in the launch's
 * environment with the method's on top. The program never comes from the agent (rule C18).
 *
 * @param {any[]} methods What the agent advertised.
 * @param {string} methodId
 * @param {import('../../types/client').LaunchOptions} launch
 * @returns {import('../../types/client').LoginCommand}
 */
function loginCommand(methods, methodId, launch) {
  const method = methods.find((candidate) => candidate.id === methodId);
  if (method === undefined) throw new AcpError('invalid_argument', 'the agent does not advertise this method', { phase: 'authenticate' });
  if (method.type !== 'terminal') {
    const text = 'the method is not one for a terminal; call authenticate()';
    throw new AcpError('invalid_argument', text, { phase: 'authenticate' });
  }
  return {
    command: launch.command,
    args: [...(launch.args ?? []), ...argsOf(method)],
    cwd: launch.cwd,
    env: { ...launch.env, ...envOf(method) },
  };
}

module.exports = { loginCommand };
