/**
 * Puts commits one by one on top of another, as rebase and cherry-pick do, without a working tree. A commit's change is
 * merged with its own parent as the base: git 2.38 and 2.39 take no base, so a scratch commit with the tree of where we
 * are and the parent of what is replayed makes git find that base by itself.
 */
import { withTrailers } from '../provenance/trailers.ts';
import type { BranchCommit } from './branch-commits.ts';
import type { Integration, IntegrationHead, IntegrationWork } from './integration.ts';
import { callIn, type MergeRepository, treeOf } from './merge-repository.ts';
import { mergeTrees } from './merge-trees.ts';
import { writeCommit, writeScratchCommit } from './write-commit.ts';

/** Commits whose change is there already leave nothing behind. Authors and their dates stay. */
export async function replayCommits(
  start: IntegrationHead,
  commits: readonly BranchCommit[],
  work: IntegrationWork,
  repository: MergeRepository,
): Promise<Integration> {
  let head = { commit: start.commit, tree: await treeOf(start, repository) };
  for (const commit of commits) {
    const scratch = await writeScratchCommit(head.tree, commit.parents, repository);
    const merged = await mergeTrees([scratch, commit.id], callIn(repository));
    if (!merged.clean) {
      const conflicts = merged.conflicts.map((one) => ({
        ...one,
        message: `${commit.id.slice(0, 12)}: ${one.message}`,
      }));
      return { kind: 'conflict', conflicts, files: merged.files, merge: null };
    }
    if (merged.tree === head.tree) continue;
    const message = messageOf(commit, work);
    const made = { tree: merged.tree, parents: [head.commit], message, author: commit.author };
    head = { commit: await writeCommit(made, repository), tree: merged.tree };
  }
  return { kind: 'made', head };
}

/** As `git cherry-pick -x` says it: the line stands above the trailers. */
function messageOf({ id, message }: BranchCommit, { strategy, story }: IntegrationWork): string {
  if (strategy !== 'cherry-pick') return withTrailers(message, story);
  const [, text = message, trailers = ''] =
    /^(.*?)((?:\n\n(?:[A-Za-z][\w-]*: .+\n?)+)?)$/s.exec(message) ?? [];
  return withTrailers(`${text}\n\n(cherry picked from commit ${id})${trailers}`, story);
}
