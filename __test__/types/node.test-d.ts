// With @types/node: the host's own globals fit.
import { AcpClient, AcpRuntimeAdapter, buildSpawnEnv } from 'fusion-acp-runtime';
import type { AbortSignalLike, LaunchOptions, PermissionRequest, SessionEvent } from 'fusion-acp-runtime';

const controller = new AbortController();
export const like: AbortSignalLike = controller.signal;
export const launch: LaunchOptions = {
  command: 'agent',
  cwd: process.cwd(),
  signal: controller.signal,
  env: buildSpawnEnv(['PATH'], { sourceEnv: process.env }),
};
export const signal = (request: PermissionRequest): AbortSignal => request.signal;

export async function stream(): Promise<void> {
  const session = await (await AcpClient.launch(launch)).newSession();
  const turn = session.prompt('hi', { signal: AbortSignal.timeout(1000) });
  const web: ReadableStream<SessionEvent> = turn.toReadableStream();
  const { value } = await turn.toReadableStream().getReader().read();
  const event: SessionEvent | undefined = value;
  // @ts-expect-error events, not bytes
  const bytes: Uint8Array | undefined = value;
  void [web, event, bytes];
  for await (const item of turn.toReadableStream()) {
    const typed: SessionEvent = item;
    void typed;
  }
}

export const adapter = new AcpRuntimeAdapter();
