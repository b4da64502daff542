/** A command of Ramet that a demo runs as a process of its own, so that it can be killed like any other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import type { CommandIo } from '../io.ts';
import type { DemoSandbox } from './demo-sandbox.ts';

const SHOWN_END = 500;

export interface DemoProcess extends Disposable {
  readonly pid: number | undefined;
  /** Its exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  kill(): void;
  printed(): string;
  /** The end of all that it said. */
  said(): string;
}

interface DemoCommand {
  args: readonly string[];
  /** Of the server that plays the model. */
  url: string;
  /** Gets each whole line of its standard output. */
  onLine?: (line: string) => void;
}

export function startDemoProcess(
  { repository, env }: DemoSandbox,
  { args, url, onLine }: DemoCommand,
  { signal }: Pick<CommandIo, 'signal'>,
): DemoProcess {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    cwd: repository,
    env: { ...env, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'demo' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches it once, from here: a second one would end it before it has stopped what it runs.
    detached: true,
  });
  let [printed, told, begun] = ['', '', ''];
  const decoder = new StringDecoder('utf8');
  child.stdout.on('data', (bytes: Buffer) => {
    const text = decoder.write(bytes);
    printed += text;
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    if (onLine !== undefined) for (const line of lines) onLine(line);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const ended = once(child, 'close').then(([code]): number | null =>
    typeof code === 'number' ? code : null,
  );
  const kill = (): void => void child.kill('SIGKILL');
  const interrupt = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', interrupt);
  return {
    ...{ pid: child.pid, ended, kill, printed: () => printed },
    said: () => `${printed}${told}`.trim().slice(-SHOWN_END),
    [Symbol.dispose]() {
      signal.removeEventListener('abort', interrupt);
      kill();
    },
  };
}
