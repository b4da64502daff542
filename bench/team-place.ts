/** Processes that work on one team, and a folder for it, in memory where there is any: a disk would be what is measured. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function teamFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ramet-bench-team-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Starts `count` processes, waits until all are ready, lets them begin together, and returns what each says at its end.
 * All live until the last one is done: what a process holds when it ends is free for the others.
 */
export async function together<Result>(
  count: number,
  work: string,
  options: object,
): Promise<{ results: Result[]; ms: number }> {
  const file = join(import.meta.dirname, 'team-worker.ts');
  const workers = Array.from({ length: count }, (_, index) => {
    return fork(file, [work, JSON.stringify({ ...options, index })], { stdio: 'inherit' });
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const done = workers.map((worker) => lastWord<Result>(worker));
  const since = performance.now();
  for (const worker of workers) worker.send('go');
  const results = await Promise.all(done);
  const ms = performance.now() - since;
  const ended = workers.map((worker) => once(worker, 'exit'));
  for (const worker of workers) worker.disconnect();
  await Promise.all(ended);
  return { results, ms };
}

async function lastWord<Result>(worker: ChildProcess): Promise<Result> {
  const [said] = await once(worker, 'message');
  // Our own worker sends it.
  return said as Result;
}

/** What is there becomes a commit: members get worktrees only of a repository that has one. */
export function commitAll(repository: string): void {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost'];
  for (const args of [
    ['add', '--all'],
    ['commit', '--quiet', '--message=start'],
  ]) {
    execFileSync('git', [...identity, ...args], { cwd: repository });
  }
}
