/**
 * Work that had landed and that someone has taken off the target since: it was set back, or its history was rewritten. What
 * the target has by another commit is not lost.
 */
import { callIn, isAncestor, readCommit, replayWork, wayToBranch } from '../../../git/merges.ts';
import { gitText } from '../../../git/run-git.ts';
import type { MergeRepository } from '../../../git/shapes.ts';
import type { LandingWork, LostWork } from '../../../operator/run/ports.ts';
import type { OperatorRun } from '../../../schema/operator-events.ts';

/** By task. `kept`: the result that waits to be taken into the target. */
export async function lostWork(
  { target }: OperatorRun,
  { work, kept }: { work: readonly LandingWork[]; kept: string | null },
  repository: MergeRepository,
): Promise<Map<string, LostWork>> {
  const lost = new Map<string, LostWork>();
  const head = kept ?? (await readCommit(`refs/heads/${target}`, repository));
  if (head === null) return lost;
  for (const one of await missing(work, head, repository)) {
    const from = await beginningOf(one, repository);
    const span = { branch: one.task.id, target, from, to: one.result };
    if ((await replayWork({ commit: head, tree: null }, span, repository)).kind === 'nothing') continue;
    const { into, git, after } = await wayToBranch(target, head, repository);
    const isOne = (await gitText(['rev-parse', `${one.result}^1`], callIn(repository))) === from;
    const isMerge = (await parentsOf(one.result, repository)) > 1;
    const range = isOne ? one.result : `${from}..${one.result}`;
    const pick = `${git} cherry-pick ${isMerge ? '-m 1 ' : ''}${range}`;
    lost.set(one.task.id, { result: one.result, steps: [...into, pick, ...after] });
  }
  return lost;
}

async function missing(
  work: readonly LandingWork[],
  head: string,
  repository: MergeRepository,
): Promise<LandingWork[]> {
  if (work.length === 0) return [];
  const input = `${[...work.map(({ result }) => result), `^${head}`].join('\n')}\n`;
  const listed = await gitText(['rev-list', '--stdin'], { ...callIn(repository), input });
  const commits = new Set(listed.split('\n'));
  return work.filter(({ result }) => commits.has(result));
}

/** A merge is the whole work. Otherwise its commits begin where its agent began, if they lead there. */
async function beginningOf({ result, attempt }: LandingWork, repository: MergeRepository): Promise<string> {
  const base = attempt?.base ?? null;
  const isLine = base !== null && attempt?.commit === result && (await isAncestor(base, result, repository));
  return isLine ? base : gitText(['rev-parse', `${result}^1`], callIn(repository));
}

async function parentsOf(commit: string, repository: MergeRepository): Promise<number> {
  const line = await gitText(['rev-list', '--parents', '--max-count=1', commit], callIn(repository));
  return line.trim().split(' ').length - 1;
}
