/**
 * From the end of the parent's answer to the first request of the last of one and of five children with worktrees of
 * their own, pool warm, at a server without latency: both times are the server's. A repository of 213 files, `ramet -p`,
 * a fresh process each round. Beside it five plain `git worktree add` started together.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { benchPlace, runPrint } from './command.ts';
import { msBetween, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import { startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 12;
const FILES = 213;
const GOALS = { 1: 35, 5: 90 } as const;
const execute = promisify(execFile);

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  const home = mkdtempSync(join(tmpdir(), 'ramet-bench-isolated-'));
  try {
    commitFiles(place.repository);
    console.log(`\nparent's answer to the last first request of children in worktrees, ${ROUNDS} processes`);
    const plain: number[] = [];
    const samples = { 1: [] as number[], 5: [] as number[] };
    for (let round = 0; round <= ROUNDS; round++) {
      const added = await plainWorktrees(place.repository, join(home, 'plain'));
      if (round > 0) plain.push(added);
      for (const children of [5, 1] as const) {
        await server.play({ input: { isolation: 'worktree' }, children, call: null });
        // A pool keeps as many as the last session used: one home for each number, or five find one ready.
        const env = { RAMET_HOME: join(home, `ramet-${children}`) };
        await runPrint(place, server.url, { prompt: 'Go.', args: ['--launch', 'parallel'], env });
        // The first round fills the pool.
        if (round > 0) samples[children].push(spawnTime(await server.records()));
      }
    }
    console.log(`  five plain git worktree add  ${showSpread(spreadOf(plain), 'ms')}`);
    for (const children of [1, 5] as const) {
      console.log(`  ${children} in worktrees  ${showSpread(spreadOf(samples[children]), 'ms')}`);
      const { median } = spreadOf(samples[children]);
      console.log(`  ${verdict(`spawn of ${children} in worktrees`, median, GOALS[children], 'ms')}`);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function spawnTime(records: readonly PlayRecord[]): number {
  const [asked] = ofParent(records);
  if (asked === undefined) throw new Error('the parent asked nothing');
  return Math.max(...ofChildren(records).map(({ at }) => msBetween(asked.endedAt, at)));
}

async function plainWorktrees(repository: string, directory: string): Promise<number> {
  const paths = [1, 2, 3, 4, 5].map((number) => join(directory, String(number)));
  const started = performance.now();
  // Some of them lose a race against each other now and then; ours may not.
  await Promise.allSettled(
    paths.map((path) =>
      execute('git', ['worktree', 'add', '--quiet', '--detach', path], { cwd: repository }),
    ),
  );
  const took = performance.now() - started;
  for (const path of paths.filter((each) => existsSync(each)))
    execFileSync('git', ['worktree', 'remove', '--force', path], { cwd: repository });
  return took;
}

function commitFiles(repository: string): void {
  for (let file = 0; file < FILES; file++) {
    const path = join(repository, `src/part${file % 17}/file${file}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `export const value${file} = ${file};\n`.repeat(1 + (file % 40)));
  }
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid'];
  execFileSync('git', ['add', '--all'], { cwd: repository });
  execFileSync('git', [...identity, 'commit', '--quiet', '--message=start'], { cwd: repository });
}

if (import.meta.main) await run();
