// Where the host declares `Symbol.asyncDispose`: `await using` works.
import { AcpClient } from 'fusion-acp-runtime';

export async function use(): Promise<void> {
  await using client = await AcpClient.launch({ command: 'agent', cwd: '/' });
  await using session = await client.newSession();
  const disposable: AsyncDisposable = client;
  void [session.id, disposable];
}
