/**
 * The commits of many branches, read in one process: what each adds to where it is merged is then known without another
 * one. What is merged meanwhile is added to it.
 */
import { type BranchCommit, type CommitRange, type GroundedCommits, logOf } from './branch-commits.ts';
import type { MergeRepository } from './merge-repository.ts';

type GraphCommit = Pick<BranchCommit, 'id' | 'parents' | 'tree'>;

export class CommitGraph {
  /** Those of the branches, oldest first. */
  readonly #listed: readonly BranchCommit[];
  readonly #known: Map<string, GraphCommit>;

  private constructor(listed: readonly BranchCommit[]) {
    this.#listed = listed;
    this.#known = new Map(listed.map((commit) => [commit.id, commit]));
  }

  /** What the tips have and `start` has not. Parents that are not in it are in the history of `start`. */
  static async read(
    start: string,
    tips: readonly string[],
    repository: MergeRepository,
  ): Promise<CommitGraph> {
    const range = [start, ...new Set(tips), `^${start}^@`];
    return new CommitGraph(await logOf(['--stdin'], repository, range));
  }

  /** A commit that was made on top of those. */
  add(commit: GraphCommit): void {
    this.#known.set(commit.id, commit);
  }

  /** As `groundedCommits`; null if one of the two is not known here. */
  grounded({ from, to }: CommitRange): GroundedCommits | null {
    const ground = this.#known.get(from);
    if (ground === undefined || !this.#known.has(to)) return null;
    const there = this.#reach(from, new Set());
    const added = this.#reach(to, there);
    return { tree: ground.tree, commits: this.#listed.filter(({ id }) => added.has(id)) };
  }

  #reach(from: string, without: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    const open = [from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const commit = this.#known.get(id);
      if (commit === undefined || found.has(id) || without.has(id)) continue;
      found.add(id);
      open.push(...commit.parents);
    }
    return found;
  }
}
