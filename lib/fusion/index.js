'use strict';

/** The Fusion-shaped API: what the package root exports of it. */

const sanitize = require('./sanitize.js');
const toolMapping = require('./tool-mapping.js');
const control = require('./control-handler.js');
const eventBridge = require('./event-bridge.js');
const fsHandlers = require('./fs-handlers.js');
const pathJail = require('./path-jail.js');
const promptBuilder = require('./prompt-builder.js');
const processManager = require('./process-manager.js');
const provider = require('./provider.js');
const bridge = require('./claude-bridge.js');
const setup = require('./setup.js');
const plugin = require('./plugin.js');

module.exports = {
  AcpRuntimeAdapter: require('./runtime-adapter.js').AcpRuntimeAdapter,
  acpRuntimeFactory: plugin.acpRuntimeFactory,
  acpRuntimeMetadata: plugin.acpRuntimeMetadata,
  ACP_RUNTIME_ID: plugin.ACP_RUNTIME_ID,

  ...require('./ask.js'),
  ...require('./validator.js'),
  ...require('./probe.js'),
  ...setup,
  CLAUDE_CODE_CLI_ACP_BINARY: bridge.CLAUDE_CODE_CLI_ACP_BINARY,
  bundledClaudeBridgeBinPath: bridge.bundledClaudeBridgeBinPath,
  resolveBundledClaudeBridgeBinary: bridge.resolveBundledClaudeBridgeBinary,
  resolveCliSettings: require('./cli-settings.js').resolveCliSettings,
  resolveClaudeBridgeAskSettings: require('./cli-settings.js').resolveClaudeBridgeAskSettings,

  ...processManager,
  DEFAULT_INITIALIZE_TIMEOUT_MS: provider.DEFAULT_INITIALIZE_TIMEOUT_MS,
  connect: provider.connect,
  newAcpSession: provider.newAcpSession,
  loadAcpSession: provider.loadAcpSession,
  promptAcpSession: provider.promptAcpSession,
  cancelAcpSession: provider.cancelAcpSession,
  authenticateAcpConnection: provider.authenticateAcpConnection,
  inspectAcpTurnError: require('./turn-errors.js').inspectAcpTurnError,
  describeAcpTurnError: require('./turn-errors.js').describeAcpTurnError,
  createBridgingClientHandler: require('./client-handler.js').createBridgingClientHandler,
  ...eventBridge,

  DENY: control.DENY,
  classifyToolKind: control.classifyToolKind,
  selectOption: control.selectOption,
  dispositionFor: control.dispositionFor,
  effectiveDisposition: control.effectiveDisposition,
  runApprovalForCategory: control.runApprovalForCategory,
  resolvePermission: control.resolvePermission,

  DEFAULT_READ_MAX_BYTES: fsHandlers.DEFAULT_READ_MAX_BYTES,
  DEFAULT_WRITE_MAX_BYTES: fsHandlers.DEFAULT_WRITE_MAX_BYTES,
  createFsHandlers: fsHandlers.createFsHandlers,
  applyReadWindow: fsHandlers.applyReadWindow,
  assertPathWithinCwd: pathJail.assertPathWithinCwd,
  isSecretPath: pathJail.isSecretPath,
  isGitInternal: pathJail.isGitInternal,

  DEFAULT_IDENTIFIER_MAX: sanitize.DEFAULT_IDENTIFIER_MAX,
  TRUNCATION_MARKER: sanitize.TRUNCATION_MARKER,
  stripControlSequences: sanitize.stripControlSequences,
  boundString: sanitize.boundString,
  boundIdentifier: sanitize.boundIdentifier,
  redactSecrets: sanitize.redactSecrets,
  toolDisplayName: toolMapping.toolDisplayName,
  normalizeToolArgs: toolMapping.normalizeToolArgs,

  buildPromptBlocks: promptBuilder.buildPromptBlocks,
  extractPromptImagesFromOptions: promptBuilder.extractPromptImagesFromOptions,
  toAcpMcpServers: require('./mcp-servers.js').toAcpMcpServers,
};
