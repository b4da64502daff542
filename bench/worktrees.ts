/**
 * Making, claiming and giving back worktrees, each beside plain git in the same run, on repositories of three sizes in
 * memory (`/dev/shm`, so that the disk's mood is not measured). Plain and ours alternate.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type CreatedWorktree, createWorktree } from '../packages/ramet/src/git/worktrees/create-worktree.ts';
import { linkTree } from '../packages/ramet/src/git/worktrees/dependencies/link-tree.ts';
import { PROOF_COMMAND } from '../packages/ramet/src/git/worktrees/prove-worktree.ts';
import { releaseWorktree } from '../packages/ramet/src/git/worktrees/removal/release-worktree.ts';
import { removeWorktree } from '../packages/ramet/src/git/worktrees/removal/remove-worktree.ts';
import { openWorktreePlace, type WorktreePlace } from '../packages/ramet/src/git/worktrees/worktree-place.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const SIZES = { small: 213, medium: 7_085, large: 51_431 };
const ROUNDS: Record<string, number> = { small: 15, medium: 7, large: 3 };
const execute = promisify(execFile);
const owner = { session: 'benchmrk', agent: 'benchmrk.1' };
const env = {
  PATH: process.env.PATH ?? '',
  HOME: '/nowhere',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Bench'],
      [`GIT_${who}_EMAIL`, 'bench@example.invalid'],
    ]),
  ),
};

export async function run(): Promise<void> {
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(memory, 'ramet-bench-worktrees-'));
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  console.log(`worktrees: in ${directory}, ${availableParallelism()} cores, load ${load}; ms`);
  try {
    for (const [name, files] of Object.entries(SIZES)) await measureSize(directory, name, files);
    await measureStress(join(directory, 'stress'));
    await measureDependencies(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Only five cold ones together, for a machine that is quiet for half a minute. */
export async function runTogether(): Promise<void> {
  const directory = mkdtempSync(
    join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ramet-bench-worktrees-'),
  );
  try {
    console.log(`worktrees started together, ${SIZES.medium} files, ${TOGETHER_ROUNDS} rounds:`);
    await measureTogether(directory, makeRepository(join(directory, 'medium'), SIZES.medium));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureSize(directory: string, size: string, files: number): Promise<void> {
  const root = makeRepository(join(directory, size), files);
  const rounds = ROUNDS[size] ?? 3;
  const plainAdd: number[] = [];
  const plainRemove: number[] = [];
  const cold: number[] = [];
  const withoutPool = openPlace(root, join(directory, `${size}-cold`), 0);
  for (let round = 0; round <= rounds; round++) {
    const path = join(directory, `plain-${size}-${round}`);
    const add = timed(() =>
      git(root, 'worktree', 'add', '--quiet', '--no-track', '-b', `plain-${round}`, path),
    );
    const start = performance.now();
    const { worktree, dirty } = await createWorktree(withoutPool, { name: `cold-${round}`, owner });
    const made = performance.now() - start;
    await dirty;
    const remove = timed(() => git(root, 'worktree', 'remove', '--force', path));
    const removal = await removeWorktree(withoutPool, worktree, { isHolder: true });
    if (removal.removed) await removal.deleted();
    // The first round warms everything up.
    if (round > 0) plainAdd.push(add) && plainRemove.push(remove) && cold.push(made);
  }
  withoutPool[Symbol.dispose]();
  console.log(`${size} (${files} files), ${rounds} rounds:`);
  const plain = show('plain git worktree add', plainAdd);
  const ours = show('cold creation', cold);
  show('plain git worktree remove --force', plainRemove);
  console.log(`  ${verdict('cold creation beside plain', ours / plain, 1.1, 'times')}`);
  if (size === 'medium') await measureTogether(directory, root);
  await measurePool(directory, size, root, rounds);
}

const TOGETHER = 5;
const TOGETHER_ROUNDS = 7;

/** Five cold ones started together, beside five of plain git started together. */
async function measureTogether(directory: string, root: string): Promise<void> {
  const place = openPlace(root, join(directory, 'together'), 0);
  const plain: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round <= TOGETHER_ROUNDS; round++) {
    const paths = Array.from({ length: TOGETHER }, (_, index) => join(directory, `at-once-${index}`));
    const started = performance.now();
    // Plain git loses a race against itself now and then.
    await Promise.allSettled(
      paths.map((path) =>
        execute('git', ['worktree', 'add', '--quiet', '--detach', path], { cwd: root, env }),
      ),
    );
    const middle = performance.now();
    for (const path of paths.filter((each) => existsSync(each)))
      git(root, 'worktree', 'remove', '--force', path);
    const begun = performance.now();
    const names = paths.map((_, index) => `together-${round}-${index}`);
    const created = await Promise.all(names.map((name) => createWorktree(place, { name, owner })));
    const ended = performance.now();
    for (const { worktree } of created) {
      const removal = await removeWorktree(place, worktree, { isHolder: true });
      if (removal.removed) await removal.deleted();
    }
    if (round > 0) plain.push(middle - started) && ours.push(ended - begun);
  }
  place[Symbol.dispose]();
  const floor = show(`${TOGETHER} plain git worktree add together`, plain);
  const made = show(`${TOGETHER} cold ones together`, ours);
  const ratios = ours.map((took, round) => (took / (plain[round] ?? Number.NaN)).toFixed(2));
  console.log(`  beside plain, round by round: ${ratios.join(' ')}`);
  console.log(`  ${verdict('cold ones together beside plain', made / floor, 1.15, 'times')}`);
}

async function measurePool(directory: string, size: string, root: string, rounds: number): Promise<void> {
  const place = openPlace(root, join(directory, `${size}-pool`), 1);
  const claims: number[] = [];
  const floors: number[] = [];
  const releases: number[] = [];
  const resets: number[] = [];
  const moves: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { worktree, how, dirty, took } = await claim(place, `claim-${round}`);
    await dirty;
    const start = performance.now();
    const released = releaseWorktree(place, worktree.id);
    releases.push(performance.now() - start);
    await released?.settled;
    resets.push(performance.now() - start);
    if (round === 0) continue;
    floors.push(timed(() => execFileSync('bash', ['-c', PROOF_COMMAND], { cwd: root, env })));
    if (how !== 'claimed') throw new Error(`expected a claim, it was ${how}`);
    claims.push(took);
  }
  for (let round = 0; round < Math.min(3, rounds); round++) {
    for (let file = 0; file < 5; file++) writeFileSync(join(root, fileName(file)), `moved ${round}\n`);
    git(root, 'commit', '--quiet', '--all', '--message=moved');
    const { worktree, dirty, took } = await claim(place, `moved-${round}`);
    await dirty;
    moves.push(took);
    await releaseWorktree(place, worktree.id)?.settled;
  }
  place[Symbol.dispose]();
  console.log(`  ${verdict('claim', show('claim of a ready one', claims), 10, 'ms')}`);
  show('of that, the proof: bash and one git', floors);
  show('claim, base moved by 5 files', moves);
  console.log(`  ${verdict('release', show('release, foreground', releases), 3, 'ms')}`);
  show('verdict, reset and check, background', resets);
}

async function claim(place: WorktreePlace, name: string): Promise<CreatedWorktree & { took: number }> {
  const start = performance.now();
  const created = await createWorktree(place, { name, owner });
  return { ...created, took: performance.now() - start };
}

async function measureStress(directory: string): Promise<void> {
  const root = makeRepository(join(directory, 'repository'), 213);
  const place = openPlace(root, join(directory, 'home'), 0);
  let failures = 0;
  const start = performance.now();
  for (let round = 0; round < 20; round++) {
    const wanted = Array.from({ length: 32 }, (_, index) =>
      createWorktree(place, { name: `s-${round}-${index}`, owner }),
    );
    const created = await Promise.allSettled(wanted);
    for (const each of created) {
      if (each.status === 'rejected') failures++;
      else await removeWorktree(place, each.value.worktree, { isHolder: true });
    }
  }
  const middle = performance.now();
  for (let count = 0; count < 600; count++) {
    const { worktree } = await createWorktree(place, { name: `loop-${count}`, owner });
    const { removed } = await removeWorktree(place, worktree, { isHolder: true });
    if (!removed) failures++;
  }
  const orphans = git(root, 'for-each-ref', '--format=%(refname)', 'refs/heads/ramet')
    .split('\n')
    .filter(Boolean);
  const seconds = [middle - start, performance.now() - middle].map((ms) => (ms / 1000).toFixed(1));
  console.log(`stress: 20 x 32 at once in ${seconds[0]} s, 600 one after the other in ${seconds[1]} s`);
  console.log(`  ${verdict('failures', failures, 0, '')}`);
  console.log(`  ${verdict('orphan branches', orphans.length, 0, '')}`);
  git(root, 'fsck', '--strict');
  place[Symbol.dispose]();
}

/** 494 MB in 27,832 files, as one real `node_modules` had; hard links do not care about the bytes, so fewer do. */
async function measureDependencies(directory: string): Promise<void> {
  const source = join(directory, 'packages');
  const text = 'x'.repeat(2_000);
  for (let file = 0; file < 27_832; file++) {
    const path = join(source, `p${file % 900}`, `d${file % 7}`, `f${file}.js`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const times: number[] = [];
  for (let round = 0; round <= 5; round++) {
    const target = join(directory, `packages-${round}`);
    const start = performance.now();
    await linkTree(source, target);
    if (round > 0) times.push(performance.now() - start);
    rmSync(target, { recursive: true });
  }
  console.log('packages, 27,832 files:');
  console.log(`  ${verdict('hard links', show('hard links from a template', times), 500, 'ms')}`);
}

function makeRepository(root: string, files: number): string {
  mkdirSync(root, { recursive: true });
  git(root, 'init', '--quiet', '--initial-branch=main');
  for (let file = 0; file < files; file++) {
    const path = join(root, fileName(file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `export const value${file} = ${file};\n`.repeat(1 + (file % 40)));
  }
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message=start');
  return root;
}

function fileName(file: number): string {
  return `src/area${file % 17}/part${file % 211}/file${file}.ts`;
}

function openPlace(directory: string, home: string, pool: number): WorktreePlace {
  return openWorktreePlace({ directory, home, env, settings: { pool } });
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function show(name: string, times: readonly number[]): number {
  const spread = spreadOf(times);
  console.log(`  ${name.padEnd(38)} ${showSpread(spread, 'ms')}`);
  return spread.median;
}

if (import.meta.main) await run();
