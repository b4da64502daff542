/**
 * A repository of 50,000 files and 1,000 refs with four worktrees of agents: what `ramet worktree ls`, `ramet worktree gc`
 * and `ramet gc` take, beside `git worktree list` and one `git status` in the same round; and how long after an agent's
 * last answer its report is with its parent, as the server sees it. In memory, as the other repositories are.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorktree } from '../packages/ramet/src/git/worktrees/create-worktree.ts';
import { releaseWorktree } from '../packages/ramet/src/git/worktrees/removal/release-worktree.ts';
import { removeWorktree } from '../packages/ramet/src/git/worktrees/removal/remove-worktree.ts';
import { openWorktreePlace } from '../packages/ramet/src/git/worktrees/worktree-place.ts';
import { BIN, benchPlace, runPrint } from './command.ts';
import { msBetween, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import { startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const FILES = 50_000;
const FOLDERS = 500;
const COMMITS = 200;
const REFS = 1_000;
const ROUNDS = 7;
const GOALS = { 'worktree ls': 500, 'worktree gc': 2_000, 'gc --dry-run': 2_000 } as const;
const GOAL_END = 1_000;

export async function run(): Promise<void> {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ramet-bench-large-'));
  try {
    const root = join(base, 'repository');
    const home = join(base, 'home');
    makeRepository(root);
    console.log(`\na repository of ${FILES} files and ${REFS} refs, ${ROUNDS} rounds`);
    const paths = await makeWorktrees(root, home);
    measureCommands(root, home, paths);
    await measureEnds(root, home);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** In use and empty, with a changed file, with a commit, with files that git does not know. */
async function makeWorktrees(root: string, home: string): Promise<string[]> {
  using place = openWorktreePlace({ directory: root, home, env: environment(home) });
  const paths: string[] = [];
  const works: readonly ((path: string) => void)[] = [
    (): void => {},
    (path): void => writeFileSync(join(path, fileName(1)), 'changed\n'),
    (path): void => {
      writeFileSync(join(path, fileName(2)), 'committed\n');
      git(path, home, 'commit', '--quiet', '--all', '--message=work');
    },
    (path): void => writeFileSync(join(path, 'new-file.txt'), 'new\n'),
  ];
  for (const [index, work] of works.entries()) {
    const owner = { session: 'benchmrk', agent: `benchmrk.${index + 1}` };
    const { worktree } = await createWorktree(place, { name: `agent-${index + 1}`, owner });
    work(worktree.path);
    paths.push(worktree.path);
    if (index > 0) await releaseWorktree(place, worktree.id)?.settled;
  }
  return paths;
}

function measureCommands(root: string, home: string, [path = root]: readonly string[]): void {
  const list: number[] = [];
  const status: number[] = [];
  const ours = new Map(Object.keys(GOALS).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    const listed = timed(() => git(root, home, 'worktree', 'list'));
    const looked = timed(() => git(path, home, '--no-optional-locks', 'status', '--porcelain'));
    // The first round warms everything up.
    if (round > 0) list.push(listed) && status.push(looked);
    for (const [name, times] of ours) {
      const took = timed(() => ramet(root, home, name.split(' ')));
      if (round > 0) times.push(took);
    }
  }
  show('git worktree list', list);
  show('git status in one worktree', status);
  for (const [name, goal] of Object.entries(GOALS)) {
    const median = show(`ramet ${name}`, ours.get(name) ?? []);
    console.log(`  ${verdict(`ramet ${name} with four worktrees`, median, goal, 'ms')}`);
  }
}

const CHILDREN = {
  'that changed nothing': 'true',
  'that changed a file': `echo more >> ${fileName(3)}`,
} as const;

async function measureEnds(root: string, home: string): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  const samples = new Map(Object.keys(CHILDREN).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, command] of Object.entries(CHILDREN)) {
      const input = { isolation: 'worktree' };
      await server.play({ input, children: 1, call: { name: 'Bash', input: { command } } });
      const env = { RAMET_HOME: home };
      await runPrint(place, server.url, { prompt: 'Go.', env, cwd: root });
      if (round > 0) samples.get(name)?.push(reportTime(await server.records()));
      await removeKept(root, home);
    }
  }
  for (const [name, times] of samples) {
    const median = show(`report of an agent ${name}`, times);
    console.log(`  ${verdict(`end to report of an agent ${name}`, median, GOAL_END, 'ms')}`);
  }
}

/** There are to be four of them in each round. */
async function removeKept(root: string, home: string): Promise<void> {
  using place = openWorktreePlace({ directory: root, home, env: environment(home) });
  const kept = place.registry.list().filter(({ state, owner }) => state === 'released' && owner !== null);
  for (const worktree of kept.filter(({ owner }) => owner?.session !== 'benchmrk')) {
    const removal = await removeWorktree(place, worktree, { force: true });
    if (removal.removed) await removal.deleted();
  }
}

/** From the end of the child's last answer to the request that brings its report. */
function reportTime(records: readonly PlayRecord[]): number {
  const last = ofChildren(records).at(-1);
  const told = ofParent(records).find(({ reports }) => reports.length > 0);
  if (last === undefined || told === undefined) throw new Error('no report came');
  return msBetween(last.endedAt, told.at);
}

function makeRepository(root: string): void {
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', root]);
  execFileSync('git', ['fast-import', '--quiet'], { cwd: root, input: history() });
  const refs = Array.from({ length: REFS - 1 }, (_, index) => {
    const name = index % 3 === 0 ? `refs/tags/v${index}` : `refs/heads/topic-${index}`;
    return `create ${name} main~${index % COMMITS}\n`;
  });
  execFileSync('git', ['update-ref', '--stdin'], { cwd: root, input: refs.join('') });
  execFileSync('git', ['pack-refs', '--all'], { cwd: root });
  execFileSync('git', ['reset', '--quiet', '--hard', 'main'], { cwd: root });
}

function history(): string {
  const commit = (): string =>
    'commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1700000000 +0000\ndata 5\nwork\n';
  const file = (path: string, text: string): string =>
    `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  const parts = [commit(), file('.gitignore', 'node_modules\nbuild\n')];
  for (let index = 0; index < FILES; index++)
    parts.push(file(fileName(index), `export const value${index} = ${index};\n`.repeat(1 + (index % 40))));
  for (let index = 0; index < COMMITS; index++)
    parts.push(commit(), file(fileName(index), `export const changed = ${index};\n`));
  return parts.join('');
}

function fileName(file: number): string {
  return `src/area${file % 20}/part${file % FOLDERS}/file${file}.ts`;
}

function environment(home: string): Record<string, string> {
  const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Bench'],
    [`GIT_${role}_EMAIL`, 'bench@example.invalid'],
  ]);
  return { PATH: process.env.PATH ?? '', HOME: home, ...Object.fromEntries(who) };
}

function git(cwd: string, home: string, ...args: string[]): void {
  execFileSync('git', args, { cwd, env: environment(home), stdio: ['ignore', 'pipe', 'inherit'] });
}

function ramet(cwd: string, home: string, args: readonly string[]): void {
  execFileSync(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...environment(home), RAMET_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function show(name: string, times: readonly number[]): number {
  const spread = spreadOf(times);
  console.log(`  ${name.padEnd(42)} ${showSpread(spread, 'ms')}`);
  return spread.median;
}

if (import.meta.main) await run();
