// The same objects as CommonJS gives: one identity for each class.
import runtime from './index.js';

export const {
  ACP_RUNTIME_ID, AcpAuthRequiredError, AcpClient, AcpError, AcpRuntimeAdapter, AcpSession, AcpSpawnError,
  CLAUDE_CODE_CLI_ACP_BINARY, DEFAULT_IDENTIFIER_MAX, DEFAULT_INITIALIZE_TIMEOUT_MS, DEFAULT_READ_MAX_BYTES,
  DEFAULT_WRITE_MAX_BYTES, DENY, FsContentTooLargeError, FsWriteDeniedError, HandshakeTimeoutError,
  IncompatibleProtocolError, MAX_PLAN_ENTRIES, MissingAcpEnvError, PER_CHUNK_CAP_CHARS, PER_TURN_OUTPUT_CAP_CHARS,
  PathJailError, TOOL_CALL_MAP_CAP, TRUNCATION_MARKER, acpRuntimeFactory, acpRuntimeMetadata, activeProcessCount,
  applyReadWindow, askAcpOnce, assertPathWithinCwd, authenticateAcpConnection, boundIdentifier, boundString,
  buildPromptBlocks, buildSpawnEnv, bundledClaudeBridgeBinPath, cancelAcpSession, checkSetup, classifyToolKind,
  connect, createBridgingClientHandler, createEventBridge, createFsHandlers, defaultAgentPath, describeAcpTurnError,
  dispositionFor, effectiveDisposition, extractJsonObjects, extractPromptImagesFromOptions, inferVerdictFromProse,
  inspectAcpTurnError, isGitInternal, isSecretPath, isSignInNotice, killAllProcesses,
  loadAcpSession, mapParsedToVerdict,
  newAcpSession, normalizeToolArgs, normalizeVerdictToken, probeAcpReadiness, promptAcpSession, redactSecrets,
  resolveBundledClaudeBridgeBinary, resolveClaudeBridgeAskSettings, resolveCliSettings, resolvePermission,
  runApprovalForCategory, runCliAgentValidation, selectOption, setupHooks, setupManifest, stripControlSequences,
  toAcpMcpServers, toolDisplayName, validateBundledBridgeIdentity,
} = runtime;
