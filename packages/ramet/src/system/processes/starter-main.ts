/** The program of `starter.ts`: starts programs for the process that started it, and ends with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { StarterMessage, StarterOrder, StarterOutcome, StarterReply } from './starter.ts';

const running = new Map<number, ChildProcess>();

process.on('message', (message: StarterMessage) => {
  if ('stop' in message) running.get(message.stop)?.kill('SIGKILL');
  else run(message);
});
process.on('disconnect', () => process.exit());
send('ready');

function send(reply: StarterReply): void {
  if (process.connected) process.send?.(reply);
}

function run({ id, program, args, cwd, env, input, detached, mostBytes }: StarterOrder): void {
  const output: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  let left = mostBytes;
  const answer = (reply: StarterOutcome): void => {
    if (running.delete(id)) send({ id, ...reply });
  };
  try {
    const child = spawn(program, args, {
      ...{ cwd, env, detached },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    running.set(id, child);
    if (child.pid !== undefined) send({ id, pid: child.pid });
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.on('data', (chunk: Buffer) => {
        left -= chunk.length;
        if (left >= 0) output[name].push(chunk);
        else child.kill('SIGKILL');
      });
    child.stdin?.on('error', () => {}).end(input);
    child.once('error', (error) => answer({ error: failureOf(error) }));
    child.once('close', (code, signal) =>
      answer({
        ...{ end: code ?? signal ?? 'a signal', isTooMuch: left < 0 },
        ...{ stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr) },
      }),
    );
  } catch (error) {
    running.delete(id);
    send({ id, error: failureOf(error) });
  }
}

function failureOf(error: unknown): { message: string; code?: string } {
  const { message, code } = error as NodeJS.ErrnoException; // Node throws nothing else here
  return { message, ...(code !== undefined && { code }) };
}
