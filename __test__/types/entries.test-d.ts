import { probeAcpReadiness } from 'fusion-acp-runtime/probe';
import { probeAcpReadiness as fromRoot, type FusionPlugin } from 'fusion-acp-runtime';
import plugin from 'fusion-acp-runtime/plugin';
import type { Expect, Same } from './expect.js';

export type One = Expect<Same<typeof probeAcpReadiness, typeof fromRoot>>;
export const loaded: FusionPlugin = plugin;
export const id: string = plugin.manifest.id;
export const reason: Promise<boolean> = probeAcpReadiness({ binaryPath: 'a', args: [], cwd: '/', env: {} })
  .then((status) => status.ok && status.reason !== 'unauthenticated');
// @ts-expect-error the probe entry has only the probe
import { connect } from 'fusion-acp-runtime/probe';
void connect;
