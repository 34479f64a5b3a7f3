import { probeAcpReadiness } from 'fusion-acp-runtime/probe';
import { probeAcpReadiness as fromRoot, type FusionPlugin } from 'fusion-acp-runtime';
import plugin from 'fusion-acp-runtime/plugin';
import type { Expect, Same } from './expect.js';

export type One = Expect<Same<typeof probeAcpReadiness, typeof fromRoot>>;
export const loaded: FusionPlugin = plugin;
export const id: string = plugin.manifest.id;
export const reason: Promise<boolean> = probeAcpReadiness({ binaryPath: 'a', args: [], cwd: '/', env: {} })
  .then((status) => status.ok && status.reason !== 'unauthenticated');
export const facts: Promise<unknown[]> = probeAcpReadiness({ binaryPath: 'a', args: [], cwd: '/', env: {}, deep: true })
  .then(({ agent, elapsedMs = 0, stderrTail = '', error }) => [
    agent?.agentInfo?.version, agent?.agentCapabilities.loadSession, agent?.authMethods[0]?.id, elapsedMs + 1, stderrTail.length, error?.code,
  ]);
// @ts-expect-error the probe entry has only the probe
import { connect } from 'fusion-acp-runtime/probe';
void connect;
