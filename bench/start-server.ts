/** Starts the canned server and hands out its output line by line. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface CannedServer extends Disposable {
  url: string;
  /** When the next request arrived (`process.hrtime`) and how many bytes its body had. */
  nextRequest(): Promise<{ at: bigint; bytes: number }>;
}

export async function startServer(args: readonly string[]): Promise<CannedServer> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/canned-server.ts`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('the server has no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the server has ended');
    return value;
  };
  const port = await nextLine();
  return {
    url: `http://127.0.0.1:${port}`,
    async nextRequest() {
      const [at = '', bytes = ''] = (await nextLine()).split(' ');
      return { at: BigInt(at), bytes: Number(bytes) };
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
