/**
 * What fan-in costs (OP-4, WORK-5): 200 branches of five files on a repository of 30,000 files, with a check that does nothing.
 * Arriving together, beside 200 times three bare git processes in the same run; arriving one by one, above the check's own time.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { openMergeEntries } from '../packages/ramet/src/git/merge/merge-entries.ts';
import { runMergeQueue } from '../packages/ramet/src/git/merge/merge-queue.ts';
import { findMergeRepository } from '../packages/ramet/src/git/merge/merge-repository.ts';
import { systemClock } from '../packages/ramet/src/schema/clock.ts';
import { startProgramsElsewhere } from '../packages/ramet/src/system/processes/starter.ts';
import { type MergeBenchRepository, mergeBenchRepository } from './merge-repository.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const FILES = 30_000;
const BRANCHES = 200;
/** Of those that arrive one by one. */
const ALONE = 40;
const CHECK = { command: 'true', timeoutMs: 60_000 };

export async function run(): Promise<void> {
  using place = mergeBenchRepository({ files: FILES, branches: BRANCHES });
  mkdirSync(place.project);
  console.log(`\n${BRANCHES} branches of 5 files into ${FILES} files, with a check that does nothing`);
  const [first = '', ...others] = place.branches;
  // The working tree of checks is made once.
  await merge(place, [first]);
  const bare = bareMerges(place);
  place.git('update-ref', 'refs/heads/main', place.base);
  const together = await merge(place, place.branches);
  console.log(`  ${BRANCHES} times three bare git processes   ${(bare / 1_000).toFixed(2)} s`);
  console.log(`  ${BRANCHES} branches that arrive together    ${(together / 1_000).toFixed(2)} s`);
  console.log(`  ${verdict('arriving together beside the bare processes', together / bare, 2, 'times')}`);
  place.git('update-ref', 'refs/heads/main', place.base);
  // As an operator does it, to whom they come one by one: it starts programs by a small process all the time.
  using _ = startProgramsElsewhere();
  const [alone, checks]: [number[], number[]] = [[], []];
  for (const branch of others.slice(0, ALONE)) {
    alone.push(await merge(place, [branch]));
    checks.push(checkTime());
  }
  console.log(`  one branch with its check            ${showSpread(spreadOf(alone), 'ms')}`);
  const above = spreadOf(alone).median - spreadOf(checks).median;
  console.log(`  ${verdict('arriving one by one, above the time of the check', above, 150, 'ms')}`);
}

async function merge(place: MergeBenchRepository, branches: readonly string[]): Promise<number> {
  using entries = openMergeEntries(place.project);
  const repository = findMergeRepository(place.directory, place.env);
  const wishes = { check: CHECK, onConflict: 'person', updateCheckout: false } as const;
  const started = performance.now();
  const report = await runMergeQueue(
    { target: 'main', branches, strategy: 'merge', ...wishes },
    { repository, project: place.project, entries, clock: systemClock },
  );
  const ms = performance.now() - started;
  if (report.entries.some(({ state }) => state !== 'landed')) throw new Error('a branch did not land');
  return ms;
}

/** The least that git itself needs for each: merge, commit, move the ref. A shell starts them faster than a large process. */
function bareMerges({ directory, env, base, branches }: MergeBenchRepository): number {
  const script = `set -e; head=${base}
for branch in ${branches.join(' ')}; do
  tree=$(git merge-tree --write-tree $head $branch)
  commit=$(git commit-tree $tree -p $head -p $branch -m merge)
  git update-ref refs/heads/bare $commit
  head=$commit
done`;
  const started = performance.now();
  execFileSync('bash', ['-c', script], { cwd: directory, env });
  return performance.now() - started;
}

function checkTime(): number {
  const started = performance.now();
  spawnSync('/bin/sh', ['-c', CHECK.command]);
  return performance.now() - started;
}

if (import.meta.main) await run();
