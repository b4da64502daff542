/**
 * What it takes to merge one disjoint branch, and sixteen, into a repository of 51,431 files: the merge queue with all it
 * records, beside `git merge` in a checkout, in turns. And all probes of a conflict matrix, beside the bare git process.
 */
import { mkdirSync } from 'node:fs';
import { conflictMatrix } from '../packages/ramet/src/git/merge/conflict-matrix.ts';
import { openMergeEntries } from '../packages/ramet/src/git/merge/merge-entries.ts';
import { runMergeQueue } from '../packages/ramet/src/git/merge/merge-queue.ts';
import { callIn, findMergeRepository } from '../packages/ramet/src/git/merge/merge-repository.ts';
import { runGit } from '../packages/ramet/src/git/run-git.ts';
import { systemClock } from '../packages/ramet/src/schema/clock.ts';
import { FILES, type MergeBenchRepository, mergeBenchRepository } from './merge-repository.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 16;
const LARGE_ROUNDS = 3;
/** Times what three bare git processes take in the same run. */
const GOAL_ONE = 1.5;

export async function run(): Promise<void> {
  using place = mergeBenchRepository();
  mkdirSync(place.project);
  const { branches } = place;
  console.log(`\nmerging into ${FILES} files`);
  const [first = ''] = branches;
  await mergeByQueue(place, [first]);
  const one = { queue: [] as number[], git: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const branch = branches[round % branches.length] ?? first;
    one.queue.push(await mergeByQueue(place, [branch]));
    one.bare.push(await bareMerge(place, branch));
    one.git.push(mergeByGit(place, [branch]));
  }
  console.log(`  one branch, merge queue            ${showSpread(spreadOf(one.queue), 'ms')}`);
  console.log(`  one branch, three bare processes   ${showSpread(spreadOf(one.bare), 'ms')}`);
  console.log(`  one branch, git merge              ${showSpread(spreadOf(one.git), 'ms')}`);
  const ratio = spreadOf(one.queue).median / spreadOf(one.bare).median;
  console.log(
    `  ${verdict('merge of one disjoint branch beside three processes', ratio, GOAL_ONE, 'times')}`,
  );
  const all = { queue: [] as number[], git: [] as number[], probes: [] as number[], bare: [] as number[] };
  for (let round = 0; round < LARGE_ROUNDS; round++) {
    all.queue.push(await mergeByQueue(place, branches));
    const tree = place.git('rev-parse', 'main^{tree}');
    all.git.push(mergeByGit(place, branches, tree));
    all.probes.push(await probeAll(place));
    all.bare.push(await bareProbes(place));
  }
  console.log(
    `  ${branches.length} branches, merge queue           ${showSpread(spreadOf(all.queue), 'ms')}`,
  );
  console.log(`  ${branches.length} branches, git merge             ${showSpread(spreadOf(all.git), 'ms')}`);
  console.log(`  conflict matrix of 136 probes      ${showSpread(spreadOf(all.probes), 'ms')}`);
  console.log(`  the same 136, bare git process     ${showSpread(spreadOf(all.bare), 'ms')}`);
}

async function mergeByQueue(place: MergeBenchRepository, branches: readonly string[]): Promise<number> {
  place.git('update-ref', 'refs/heads/main', place.base);
  using entries = openMergeEntries(place.project);
  const repository = findMergeRepository(place.directory, place.env);
  const wishes = { check: null, onConflict: 'person', updateCheckout: false } as const;
  const started = performance.now();
  const report = await runMergeQueue(
    { target: 'main', branches, strategy: 'merge', ...wishes },
    { repository, project: place.project, entries, clock: systemClock },
  );
  const ended = performance.now();
  if (report.entries.some(({ state }) => state !== 'landed')) throw new Error('a branch did not land');
  return ended - started;
}

/** The least that git itself needs: merge, commit, move the ref. */
async function bareMerge(place: MergeBenchRepository, branch: string): Promise<number> {
  const call = callIn(findMergeRepository(place.directory, place.env));
  const started = performance.now();
  const { stdout: tree } = await runGit(['merge-tree', '--write-tree', place.base, branch], call);
  const parents = ['-p', place.base, '-p', branch];
  const { stdout: commit } = await runGit(['commit-tree', tree.trim(), ...parents, '-m', 'merge'], call);
  await runGit(['update-ref', 'refs/heads/bare', commit.trim()], call);
  return performance.now() - started;
}

function mergeByGit(place: MergeBenchRepository, branches: readonly string[], expected?: string): number {
  const started = performance.now();
  for (const branch of branches) place.git('merge', '-q', '--no-ff', '--no-edit', branch);
  const ended = performance.now();
  if (expected !== undefined && place.git('rev-parse', 'HEAD^{tree}') !== expected)
    throw new Error('the queue and git merge made different trees');
  place.git('reset', '-q', '--hard', place.base);
  return ended - started;
}

async function probeAll(place: MergeBenchRepository): Promise<number> {
  place.git('update-ref', 'refs/heads/main', place.base);
  const repository = findMergeRepository(place.directory, place.env);
  const started = performance.now();
  const { conflicts } = await conflictMatrix('main', place.branches, repository);
  const ended = performance.now();
  if (conflicts.length > 0) throw new Error('disjoint branches conflict');
  return ended - started;
}

async function bareProbes(place: MergeBenchRepository): Promise<number> {
  const names = ['main', ...place.branches];
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => `${one} ${other}\n`));
  const call = callIn(findMergeRepository(place.directory, place.env));
  const started = performance.now();
  await runGit(['merge-tree', '--stdin'], { ...call, input: pairs.join('') });
  return performance.now() - started;
}

if (import.meta.main) await run();
