'use strict';

/**
 * The package, each part of it loaded when it is first touched: a host that asks an agent does not pay for what it never
 * uses, and `require` reads this one file and starts nothing.
 *
 * @type {[() => any, string[]][]}
 */
const PARTS = [
  [() => require('./lib/errors.js'), [
    'AcpAuthRequiredError', 'AcpError', 'AcpSpawnError', 'FsContentTooLargeError', 'FsWriteDeniedError',
    'HandshakeTimeoutError', 'IncompatibleProtocolError', 'MissingAcpEnvError', 'PathJailError',
  ]],
  [() => require('./lib/client/client.js'), ['AcpClient']],
  [() => require('./lib/client/session.js'), ['AcpSession']],
  [() => require('./lib/default-agent/index.js'), ['defaultAgentPath']],
  [() => require('./lib/fusion/runtime-adapter.js'), ['AcpRuntimeAdapter']],
  [() => require('./lib/fusion/plugin.js'), ['ACP_RUNTIME_ID', 'acpRuntimeFactory', 'acpRuntimeMetadata']],
  [() => require('./lib/fusion/ask.js'), ['askAcpOnce', 'extractJsonObjects', 'isSignInNotice']],
  [() => require('./lib/fusion/validator.js'), [
    'inferVerdictFromProse', 'mapParsedToVerdict', 'normalizeVerdictToken', 'runCliAgentValidation',
  ]],
  [() => require('./lib/fusion/probe.js'), ['probeAcpReadiness']],
  [() => require('./lib/fusion/setup.js'), ['checkSetup', 'setupHooks', 'setupManifest']],
  [() => require('./lib/fusion/claude-bridge.js'), [
    'CLAUDE_CODE_CLI_ACP_BINARY', 'bundledClaudeBridgeBinPath', 'resolveBundledClaudeBridgeBinary',
    'validateBundledBridgeIdentity',
  ]],
  [() => require('./lib/fusion/cli-settings.js'), ['resolveClaudeBridgeAskSettings', 'resolveCliSettings']],
  [() => require('./lib/fusion/process-manager.js'), [
    'activeProcessCount', 'buildSpawnEnv', 'killAllProcesses',
  ]],
  [() => require('./lib/fusion/provider.js'), [
    'DEFAULT_INITIALIZE_TIMEOUT_MS', 'authenticateAcpConnection', 'cancelAcpSession', 'connect', 'loadAcpSession',
    'newAcpSession', 'promptAcpSession',
  ]],
  [() => require('./lib/fusion/turn-errors.js'), ['describeAcpTurnError', 'inspectAcpTurnError']],
  [() => require('./lib/fusion/client-handler.js'), ['createBridgingClientHandler']],
  [() => require('./lib/fusion/event-bridge.js'), [
    'MAX_PLAN_ENTRIES', 'PER_CHUNK_CAP_CHARS', 'PER_TURN_OUTPUT_CAP_CHARS', 'TOOL_CALL_MAP_CAP', 'createEventBridge',
  ]],
  [() => require('./lib/fusion/control-handler.js'), [
    'DENY', 'classifyToolKind', 'dispositionFor', 'effectiveDisposition', 'resolvePermission',
    'runApprovalForCategory', 'selectOption',
  ]],
  [() => require('./lib/fusion/fs-handlers.js'), [
    'DEFAULT_READ_MAX_BYTES', 'DEFAULT_WRITE_MAX_BYTES', 'applyReadWindow', 'createFsHandlers',
  ]],
  [() => require('./lib/fusion/path-jail.js'), ['assertPathWithinCwd', 'isGitInternal', 'isSecretPath']],
  [() => require('./lib/fusion/sanitize.js'), [
    'DEFAULT_IDENTIFIER_MAX', 'TRUNCATION_MARKER', 'boundIdentifier', 'boundString', 'redactSecrets',
    'stripControlSequences',
  ]],
  [() => require('./lib/fusion/tool-mapping.js'), ['normalizeToolArgs', 'toolDisplayName']],
  [() => require('./lib/fusion/prompt-builder.js'), ['buildPromptBlocks', 'extractPromptImagesFromOptions']],
  [() => require('./lib/fusion/mcp-servers.js'), ['toAcpMcpServers']],
];

for (const [load, names] of PARTS) {
  for (const name of names) {
    Object.defineProperty(module.exports, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = load()[name];
        // From now on a plain member.
        Object.defineProperty(module.exports, name, { value, enumerable: true, writable: true });
        return value;
      },
    });
  }
}
