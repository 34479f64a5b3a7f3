import type { Readable, Writable } from 'node:stream';

type Api = typeof import('../../index.js');

/** What a command may use of the world; tests hand in their own. */
export interface World {
  /** The arguments, without Node's and the script's. */
  argv: string[];
  /** The package's public API. */
  api(): Pick<
    Api,
    'AcpClient' | 'buildSpawnEnv' | 'extractJsonObjects' | 'isSignInNotice' | 'probeAcpReadiness' | 'stripControlSequences'
  >;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  /** Where SIGINT and SIGTERM are heard. */
  signals: {
    on(event: string, listener: () => void): unknown;
    off(event: string, listener: () => void): unknown;
  };
}

/** A command: its exit code, once it is done. */
export type Command = (world: World, args: string[]) => Promise<number>;
