// With `lib: ["ES2022"]` and no other types: the structural stand-ins are enough.
import { AcpClient } from 'fusion-acp-runtime';
import type { AbortSignalLike, PermissionRequest, SessionEvent } from 'fusion-acp-runtime';

export const signal = (request: PermissionRequest): AbortSignalLike => request.signal;

export async function stream(own: AbortSignalLike): Promise<SessionEvent | undefined> {
  const client = await AcpClient.launch({ command: 'agent', cwd: '/', signal: own });
  const turn = (await client.newSession()).prompt('hi');
  for await (const event of turn.toReadableStream()) if (event.type === 'plan') return event;
  // @ts-expect-error the library adds no globals
  AbortSignal;
  // @ts-expect-error nor symbols
  Symbol.asyncDispose;
  return (await turn.toReadableStream().getReader().read()).value;
}
