/** What would conflict, before anything is merged: every branch with the target and every two branches with each other. */
import { requireMergingGit } from '../run-git.ts';
import { describeConflicts } from './integration.ts';
import type { MergeResult } from './merge-output.ts';
import { callIn, type MergeRepository, type NamedCommit, resolveCommits } from './merge-repository.ts';
import { type CommitPair, mergePairs } from './merge-trees.ts';

export interface ConflictProbe {
  branch: string;
  /** The target or another branch. */
  with: string;
  files: string[];
  /** Empty where nothing conflicts. */
  conflicts: string;
}

export interface ConflictMatrix {
  target: string;
  branches: string[];
  /** Those that conflict. */
  conflicts: ConflictProbe[];
  /** Branches that would change nothing in the target. */
  nothing: string[];
  /** Those without a conflict first, then those with the fewest; what conflicts with the target comes last. */
  order: string[];
}

/** All pairs in one process, and only objects are written. Throws for a branch that shares no commit with the others. */
export async function conflictMatrix(
  target: string,
  branches: readonly string[],
  repository: MergeRepository,
): Promise<ConflictMatrix> {
  const call = callIn(repository);
  const version = await requireMergingGit(call);
  const [ground, ...tips] = await resolveCommits([target, ...new Set(branches)], repository);
  if (ground === undefined) throw new Error('the target was not looked up');
  const pairs = pairsOf(ground, tips);
  const ids = pairs.map(([ours, theirs]): CommitPair => [ours.commit, theirs.commit]);
  const results = await mergePairs(ids, version, call);
  const conflicts = results.flatMap((result, index) => probeOf(result, pairs[index]));
  const nothing = tips.filter((_, index) => results[index]?.clean && results[index].tree === ground.tree);
  const names = tips.map(({ name }) => name);
  return {
    target,
    branches: names,
    conflicts,
    nothing: nothing.map(({ name }) => name),
    order: orderOf(target, names, conflicts),
  };
}

type NamedPair = readonly [NamedCommit, NamedCommit];

/** The target with each comes first, so that the result of branch n is result n. */
function pairsOf(target: NamedCommit, tips: readonly NamedCommit[]): NamedPair[] {
  const among = tips.flatMap((one, index) => tips.slice(index + 1).map((other): NamedPair => [one, other]));
  return [...tips.map((tip): NamedPair => [target, tip]), ...among];
}

function probeOf(result: MergeResult, pair: NamedPair | undefined): ConflictProbe[] {
  if (result.clean || pair === undefined) return [];
  const [ours, theirs] = pair;
  return [
    {
      branch: theirs.name,
      with: ours.name,
      files: result.files,
      conflicts: describeConflicts(result.conflicts),
    },
  ];
}

function orderOf(target: string, names: readonly string[], conflicts: readonly ConflictProbe[]): string[] {
  const weight = (name: string): number =>
    conflicts
      .filter((probe) => probe.branch === name || probe.with === name)
      .reduce((sum, probe) => sum + (probe.with === target ? names.length + 1 : 1), 0);
  return names.toSorted((a, b) => weight(a) - weight(b));
}
