import * as root from 'fusion-acp-runtime';

/** Every value that `docs` promise from the package root. */
export const names = [
  'AcpRuntimeAdapter', 'acpRuntimeFactory', 'acpRuntimeMetadata', 'ACP_RUNTIME_ID', 'askAcpOnce', 'extractJsonObjects',
  'mapParsedToVerdict', 'normalizeVerdictToken', 'inferVerdictFromProse', 'runCliAgentValidation', 'probeAcpReadiness',
  'isSignInNotice',
  'checkSetup', 'setupHooks', 'setupManifest', 'validateBundledBridgeIdentity', 'CLAUDE_CODE_CLI_ACP_BINARY',
  'bundledClaudeBridgeBinPath', 'resolveBundledClaudeBridgeBinary', 'resolveCliSettings',
  'resolveClaudeBridgeAskSettings', 'buildSpawnEnv', 'redactSecrets', 'killAllProcesses', 'activeProcessCount',
  'connect', 'newAcpSession', 'loadAcpSession', 'promptAcpSession', 'cancelAcpSession', 'authenticateAcpConnection',
  'inspectAcpTurnError', 'describeAcpTurnError', 'createEventBridge', 'createBridgingClientHandler',
  'classifyToolKind', 'selectOption', 'dispositionFor', 'effectiveDisposition', 'runApprovalForCategory',
  'resolvePermission', 'createFsHandlers', 'applyReadWindow', 'assertPathWithinCwd', 'isSecretPath', 'isGitInternal',
  'stripControlSequences', 'boundString', 'boundIdentifier', 'toolDisplayName', 'normalizeToolArgs',
  'buildPromptBlocks', 'extractPromptImagesFromOptions', 'toAcpMcpServers',
  'DENY', 'PER_TURN_OUTPUT_CAP_CHARS', 'PER_CHUNK_CAP_CHARS', 'TOOL_CALL_MAP_CAP', 'MAX_PLAN_ENTRIES',
  'DEFAULT_READ_MAX_BYTES', 'DEFAULT_WRITE_MAX_BYTES', 'DEFAULT_IDENTIFIER_MAX', 'TRUNCATION_MARKER',
  'DEFAULT_INITIALIZE_TIMEOUT_MS',
  'AcpError', 'AcpSpawnError', 'IncompatibleProtocolError', 'HandshakeTimeoutError', 'AcpAuthRequiredError',
  'MissingAcpEnvError', 'FsContentTooLargeError', 'FsWriteDeniedError', 'PathJailError',
  'AcpClient', 'AcpSession',
  'defaultAgentPath',
] as const satisfies readonly (keyof typeof root)[];

/** And nothing else is declared. */
export const missing: Exclude<keyof typeof root, (typeof names)[number]> extends never ? true : false = true;

// @ts-expect-error a name that is not exported
export const wrong: keyof typeof root = 'createDefaultClientHandler';
