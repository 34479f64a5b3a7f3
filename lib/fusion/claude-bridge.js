'use strict';

/**
 * The bundled Claude bridge: where it lies, and whether what lies there is it. docs/claude-bridge.md.
 *
 * @typedef {import('../../types/plugin').AcpBinaryResolution} AcpBinaryResolution
 */

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const CLAUDE_CODE_CLI_ACP_BINARY = 'claude-code-cli-acp';
const BRIDGE_VERSION = '0.1.1';
const PACKAGE_ROOT = path.resolve(__dirname, '..', '..');
const SHIM = process.platform === 'win32' ? `${CLAUDE_CODE_CLI_ACP_BINARY}.cmd` : CLAUDE_CODE_CLI_ACP_BINARY;

/**
 * SHA-256 of the native binary in each platform package of the pinned version.
 *
 * @type {Readonly<Record<string, string>>}
 */
const BINARY_SHA256 = Object.freeze({
  'darwin-arm64': '0330415dced1bb4032b24f9e5fd2e393c9e28334e6a871b51c89eac67e1cc54d',
  'darwin-x64': '97ea2afb6f1e48f010eec30953ea3006da3b02f8997c9b745e1d88b466052bc7',
  'linux-arm64': '2b3244525b783715841e9080533812338ce7c75102bf61a3af24398d131920ce',
  'linux-x64': 'd63a6949f3948dc17fd4ef0f8a9e9d6a0cd5a92c020b07d5e391673ec38a6df1',
  'win32-arm64': '7da23d228ad0ce2ee1f0d865baa0e08933bfc55f68d5c08773fa3c8415b864b1',
  'win32-x64': 'cd8a4e8c1a61981d60f54b02000bb34e2a11a2fe743e6a85a6c875b58ecb757e',
});

/**
 * The directories whose node_modules may hold the bridge: this package's, and the one that this package is installed in
 * (npm puts the dependency beside the package, not below it).
 *
 * @returns {string[]}
 */
function ownRoots() {
  const parent = path.dirname(PACKAGE_ROOT);
  return path.basename(parent) === 'node_modules' ? [PACKAGE_ROOT, path.dirname(parent)] : [PACKAGE_ROOT];
}

/** @param {string} root */
function shimIn(root) {
  return path.join(root, 'node_modules', '.bin', SHIM);
}

/** @returns {string} the root that holds a shim; this package's when none does */
function defaultRoot() {
  return ownRoots().find((root) => fs.existsSync(shimIn(root))) ?? PACKAGE_ROOT;
}

/**
 * @param {string} [pluginRoot]
 * @returns {string}
 */
function bundledClaudeBridgeBinPath(pluginRoot = defaultRoot()) {
  return shimIn(pluginRoot);
}

/**
 * @param {import('../../types/plugin').ResolveBundledClaudeBridgeOptions} [options]
 * @returns {AcpBinaryResolution}
 */
function resolveBundledClaudeBridgeBinary(options = {}) {
  const requested = CLAUDE_CODE_CLI_ACP_BINARY;
  const pluginRoot = options.pluginRoot ?? defaultRoot();
  const file = shimIn(pluginRoot);
  /** @param {string} reason @returns {AcpBinaryResolution} */
  const not = (reason) => ({ kind: 'not_resolved', requested, path: file, reason });
  try {
    if (!path.isAbsolute(file)) return not('Bundled claude-code-cli-acp path is not absolute');
    if (!(options.exists ?? fs.existsSync)(file)) return not(`Bundled claude-code-cli-acp binary was not found at ${file}`);
    const wrong = validateBundledBridgeIdentity(file, pluginRoot);
    return wrong === undefined ? { kind: 'resolved', requested, path: file } : not(wrong);
  } catch (error) {
    return not(`Bundled claude-code-cli-acp could not be examined: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * @param {string} file
 * @param {string} dir
 */
function isInside(file, dir) {
  const relative = path.relative(dir, file);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/**
 * @param {string} file
 * @returns {string | undefined}
 */
function realpath(file) {
  try {
    return fs.realpathSync.native(file);
  } catch {
    return undefined;
  }
}

/**
 * The path must lie in the plugin's node_modules by name; and where it exists, also by its real path, or in the real
 * directory of the pinned package (package managers link it in).
 *
 * @param {string} file
 * @param {string} [pluginRoot]
 * @returns {string | undefined}
 */
function validateBundledBridgeIdentity(file, pluginRoot = defaultRoot()) {
  const modules = path.join(pluginRoot, 'node_modules');
  const foreign = `The ${CLAUDE_CODE_CLI_ACP_BINARY} binary must come from this plugin's node_modules (${modules}), not from ${file}`;
  if (typeof file !== 'string' || !isInside(path.resolve(file), path.resolve(modules))) return foreign;
  const real = realpath(file);
  if (real === undefined) return undefined;
  const bridge = bridgePackage(modules);
  if ('wrong' in bridge) return bridge.wrong;
  const homes = [realpath(modules), bridge.dir].filter((dir) => dir !== undefined);
  return homes.some((dir) => isInside(real, dir)) ? undefined : `${foreign}: it links to ${real}`;
}

/**
 * The pinned package in a node_modules, checked by name and version.
 *
 * @param {string} modules
 * @returns {{ dir: string } | { wrong: string }}
 */
function bridgePackage(modules) {
  const dir = realpath(path.join(modules, CLAUDE_CODE_CLI_ACP_BINARY));
  if (dir === undefined) return { wrong: `The package ${CLAUDE_CODE_CLI_ACP_BINARY} is not installed in ${modules}` };
  let manifest;
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
  } catch {
    return { wrong: `The package in ${dir} has no readable package.json` };
  }
  if (manifest?.name !== CLAUDE_CODE_CLI_ACP_BINARY || manifest.version !== BRIDGE_VERSION) {
    const found = `${manifest?.name}@${manifest?.version}`;
    return { wrong: `The package in ${dir} is ${found}, not ${CLAUDE_CODE_CLI_ACP_BINARY}@${BRIDGE_VERSION}` };
  }
  return { dir };
}

/**
 * Compares the native binary with the recorded content.
 *
 * @param {string} [pluginRoot]
 * @returns {Promise<string | undefined>} what is wrong; `undefined` when nothing is
 */
async function verifyBridgeBinary(pluginRoot = defaultRoot()) {
  const bridge = bridgePackage(path.join(pluginRoot, 'node_modules'));
  if ('wrong' in bridge) return bridge.wrong;
  const target = `${process.platform}-${process.arch}`;
  const expected = BINARY_SHA256[target];
  if (expected === undefined) return `There is no ${CLAUDE_CODE_CLI_ACP_BINARY} binary for ${target}`;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  let binary;
  try {
    const request = `${CLAUDE_CODE_CLI_ACP_BINARY}-${target}/bin/${CLAUDE_CODE_CLI_ACP_BINARY}${suffix}`;
    binary = require.resolve(request, { paths: [bridge.dir] });
  } catch {
    return `The platform package ${CLAUDE_CODE_CLI_ACP_BINARY}-${target} is not installed`;
  }
  const hash = createHash('sha256').update(await fs.promises.readFile(binary)).digest('hex');
  return hash === expected ? undefined : `${binary} is not the binary of ${CLAUDE_CODE_CLI_ACP_BINARY}@${BRIDGE_VERSION}`;
}

module.exports = {
  CLAUDE_CODE_CLI_ACP_BINARY,
  BRIDGE_VERSION,
  BINARY_SHA256,
  bundledClaudeBridgeBinPath,
  resolveBundledClaudeBridgeBinary,
  validateBundledBridgeIdentity,
  verifyBridgeBinary,
};
