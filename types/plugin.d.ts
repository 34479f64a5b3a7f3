// The Fusion plugin: settings, setup check, runtime factory.

import type { AcpRuntimeAdapter } from './fusion.js';
import type { AcpProbeStatus, ProbeOptions } from './probe.js';

export const ACP_RUNTIME_ID: 'acp';
export const CLAUDE_CODE_CLI_ACP_BINARY: 'claude-code-cli-acp';

export interface PluginRuntimeManifestMetadata {
  runtimeId: string;
  name: string;
  description?: string;
  version?: string;
}

export const acpRuntimeMetadata: Required<PluginRuntimeManifestMetadata>;

export interface PluginLogger {
  info(message: string, ...rest: unknown[]): void;
  warn(message: string, ...rest: unknown[]): void;
  error?(message: string, ...rest: unknown[]): void;
  debug?(message: string, ...rest: unknown[]): void;
}

/** The part of a plugin's context that this one reads. */
export interface PluginContext {
  settings?: Record<string, unknown>;
  logger?: PluginLogger;
}

export function acpRuntimeFactory(context: PluginContext): Promise<AcpRuntimeAdapter>;

export interface AcpBinaryResolution {
  kind: 'resolved' | 'not_resolved';
  requested: string;
  path?: string;
  reason?: string;
}

export interface AcpCliSettings {
  binaryPath: string;
  args: string[];
  model?: string;
  fsRead: boolean;
  fsWrite: boolean;
  envAllowList: string[];
  requiredEnv: string[];
  allowUnrestricted: boolean;
  binaryResolution?: AcpBinaryResolution;
  authenticate?: {
    preferMethods?: string[];
    methodId?: string;
    meta?: Record<string, unknown>;
    require?: boolean;
  };
}

export interface ResolveBundledClaudeBridgeOptions {
  /** Default: the package's own directory. */
  pluginRoot?: string;
  exists?(path: string): boolean;
}

export function bundledClaudeBridgeBinPath(pluginRoot?: string): string;
/** Never throws. */
export function resolveBundledClaudeBridgeBinary(options?: ResolveBundledClaudeBridgeOptions): AcpBinaryResolution;
/** Reads the `acp…` keys; what is malformed counts as absent. */
export function resolveCliSettings(settings?: Record<string, unknown>): AcpCliSettings;
/** The read-only ask profile of the Claude bridge; of the settings only `acpModel` counts. */
export function resolveClaudeBridgeAskSettings(settings?: Record<string, unknown>): AcpCliSettings;

export type PluginSetupStatus = 'not-installed' | 'installing' | 'installed' | 'error';

export interface PluginSetupCheckResult {
  status: PluginSetupStatus;
  version?: string;
  binaryPath?: string;
  /** Why it is not installed; with `installed`, that the sign-in could not be verified, and why. */
  error?: string;
}

/** Stand-ins for what the check starts. */
export interface CheckAcpSetupDeps {
  /** With one, the content of the bridge's binary is not compared. */
  probe?(options: ProbeOptions): Promise<AcpProbeStatus>;
  /** Default: `claude auth status --json`; with a `probe`, a login that is advertised counts as missing. */
  authStatus?(options: { env: Record<string, string>; cwd: string; timeoutMs: number }):
    Promise<{ loggedIn: boolean | undefined; missing?: boolean; detail?: string }>;
  pluginRoot?: string;
}

export interface PluginSetupManifest {
  binaryName: string;
  description: string;
  version?: string;
  channel?: string;
  /** Milliseconds. */
  defaultTimeoutMs?: number;
}

export interface PluginSetupHooks {
  checkSetup(context: PluginContext): Promise<PluginSetupCheckResult>;
  install?(context: PluginContext): Promise<unknown>;
  uninstall?(context: PluginContext): Promise<unknown>;
}

export const setupManifest: PluginSetupManifest;
export const setupHooks: PluginSetupHooks;
/** Never rejects; takes at most some 28 seconds, usually one or two. */
export function checkSetup(context: PluginContext, deps?: CheckAcpSetupDeps): Promise<PluginSetupCheckResult>;
/** @returns what is wrong with the path, `undefined` when nothing is */
export function validateBundledBridgeIdentity(path: string, pluginRoot?: string): string | undefined;

/** The plugin object, as an engine's loader takes it. */
export interface FusionPlugin {
  manifest: {
    id: string;
    name: string;
    version: string;
    description?: string;
    runtime?: PluginRuntimeManifestMetadata;
  };
  state: 'installed';
  hooks: { onLoad(context: PluginContext): void | Promise<void> };
  runtime: {
    metadata: PluginRuntimeManifestMetadata;
    factory(context: PluginContext): Promise<AcpRuntimeAdapter>;
  };
  setup: { manifest: PluginSetupManifest; hooks: PluginSetupHooks };
}

export {};
