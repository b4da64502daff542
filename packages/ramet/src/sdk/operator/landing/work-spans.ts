/** Which commits of the private ref are the work of which task. */
import { callIn } from '../../../git/merges.ts';
import { gitText } from '../../../git/run-git.ts';
import type { MergeRepository } from '../../../git/shapes.ts';
import type { LandingWork } from '../../../operator/run/ports.ts';

/** What a task has changed: the way from the first commit to the second. */
export interface WorkSpan extends LandingWork {
  readonly from: string;
}

/** Oldest first, without what `onto` or `known` have. */
export async function workSpans(
  work: readonly LandingWork[],
  { commit, onto, known }: { commit: string; onto: string; known: string },
  repository: MergeRepository,
): Promise<WorkSpan[]> {
  const range = ['rev-list', '--topo-order', '--reverse', '--parents', commit, `^${onto}`, `^${known}`];
  const lines = (await gitText(range, callIn(repository))).split('\n').filter((line) => line !== '');
  const parents = new Map(lines.map((line) => [line.split(' ')[0] ?? '', line.split(' ').slice(1)]));
  const results = new Set(work.map(({ result }) => result));
  const order = new Map([...parents.keys()].map((id, index) => [id, index]));
  return work
    .filter(({ result }) => parents.has(result))
    .sort((one, other) => (order.get(one.result) ?? 0) - (order.get(other.result) ?? 0))
    .map((one) => ({ ...one, from: beginning(one.result, parents, results) }));
}

/** A merge is the whole work. Commits that were put there one by one reach down to those of another task. */
function beginning(
  result: string,
  parents: ReadonlyMap<string, readonly string[]>,
  results: ReadonlySet<string>,
): string {
  let at = result;
  for (;;) {
    const [first, ...others] = parents.get(at) ?? [];
    if (first === undefined) return at;
    const next = parents.get(first);
    const isOther = next === undefined || results.has(first) || next.length > 1;
    if (others.length > 0 || isOther) return first;
    at = first;
  }
}
