'use strict';

/** Runs the whole kit, agents and fake model alike, in a network namespace where only loopback is up. */

const { spawn, spawnSync } = require('node:child_process');

const INSIDE = 'ACP_INTEROP_NAMESPACE';
const UP = 'ip link set lo up 2>/dev/null || ifconfig lo up';

/** Ways to get a namespace, best first. Without root, a second user namespace gives the user's own ids back. */
function ways() {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid === 0) return [['unshare', ['--net', 'sh', '-c', `{ ${UP}; } && exec "$@"`, 'sh']]];
  const back = `exec unshare --user --map-user=${uid} --map-group=${gid} "$@"`;
  return [['unshare', ['--user', '--map-root-user', '--net', 'sh', '-c', `{ ${UP}; } && ${back}`, 'sh']]];
}

/** What this process runs in. */
const network = () => (process.env[INSIDE] ? 'a network namespace with only loopback up' : "the host's network");

/**
 * Starts the same command again inside a namespace.
 *
 * @returns {Promise<number> | undefined} its exit code; undefined when already inside, or when there is no way in
 */
function reenter() {
  if (process.env[INSIDE]) return undefined;
  for (const [command, prefix] of /** @type {[string, string[]][]} */ (ways())) {
    if (spawnSync(command, [...prefix, 'true'], { stdio: 'ignore' }).status !== 0) continue;
    const argv = [...prefix, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const child = spawn(command, argv, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
    // A Ctrl-C reaches the child as well; anything else is for this process alone.
    process.on('SIGINT', () => {});
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
  }
  return undefined;
}

module.exports = { network, reenter };
