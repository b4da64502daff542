/** Puts the work of one branch on top of a commit, by one of four strategies. Writes objects only, never a ref. */

import { join } from 'node:path';
import { RametError } from '../../schema/errors.ts';
import { withTrailers } from '../provenance/trailers.ts';
import { readOrNull } from '../repository.ts';
import { gitText, runGit } from '../run-git.ts';
import { type BranchCommit, branchCommits, groundedCommits } from './branch-commits.ts';
import type { Integration, IntegrationHead, IntegrationWork, OpenConflict } from './integration.ts';
import { mergeMessage } from './merge-message.ts';
import type { MergeConflict, MergeResult } from './merge-output.ts';
import { callIn, isAncestor, type MergeRepository, treeOf } from './merge-repository.ts';
import { mergeTrees } from './merge-trees.ts';
import { writeCommit, writeScratchCommit } from './write-commit.ts';

/** Never throws for what a branch holds. */
export async function integrateBranch(
  head: IntegrationHead,
  work: IntegrationWork,
  repository: MergeRepository,
): Promise<Integration> {
  try {
    const replays = work.strategy === 'rebase' || work.strategy === 'cherry-pick';
    return await (replays ? replayBranch(head, work, repository) : mergeBranch(head, work, repository));
  } catch (error) {
    if (!(error instanceof RametError) || error.family !== 'terminal') throw error;
    return { kind: 'refused', reason: error.message };
  }
}

async function mergeBranch(
  head: IntegrationHead,
  work: IntegrationWork,
  repository: MergeRepository,
): Promise<Integration> {
  if (work.strategy === 'fast-forward' && (await isAncestor(head.commit, work.tip, repository)))
    return head.commit === work.tip
      ? { kind: 'nothing', reason: `${work.target} has it already` }
      : { kind: 'made', head: { commit: work.tip, tree: null } };
  // Both at once: they need nothing of each other, and a process costs more than its work here.
  const [merged, { tree, commits }] = await Promise.all([
    mergeTrees([head.commit, work.tip], callIn(repository)),
    work.graph?.grounded({ from: head.commit, to: work.tip }) ??
      groundedCommits({ from: head.commit, to: work.tip }, repository),
  ]);
  if (commits.length === 0) return { kind: 'nothing', reason: `${work.target} has it already` };
  if (!merged.clean) return conflictOf(head, work, merged, repository);
  if (merged.tree === tree) return { kind: 'nothing', reason: `${work.target} has these changes already` };
  const twins = await findCaseTwins(tree, merged.tree, repository);
  if (twins.length > 0)
    return { kind: 'conflict', conflicts: twins, files: twins.flatMap(({ paths }) => paths), merge: null };
  return { kind: 'made', head: await commitMerge(head, work, merged.tree, { commits }, repository) };
}

/** Records `tree` as the outcome of the branch on top of `head`. */
async function commitMerge(
  head: IntegrationHead,
  { branch, target, tip, strategy, story, graph }: IntegrationWork,
  tree: string,
  { commits, resolved = [] }: { commits: readonly BranchCommit[]; resolved?: readonly string[] },
  repository: MergeRepository,
): Promise<IntegrationHead> {
  const kind = strategy === 'squash' ? 'squash' : 'merge';
  const message = mergeMessage({ kind, branch, target, commits, story, resolved });
  const parents = kind === 'squash' ? [head.commit] : [head.commit, tip];
  const id = await writeCommit({ tree, parents, message }, repository);
  graph?.add({ id, parents, tree });
  return { commit: id, tree };
}

/** The same with a tree that resolves a conflict. */
export async function commitResolved(
  head: IntegrationHead,
  work: IntegrationWork,
  { tree, files }: Pick<OpenConflict, 'tree' | 'files'>,
  repository: MergeRepository,
): Promise<IntegrationHead> {
  const commits = await branchCommits({ from: head.commit, to: work.tip }, repository);
  return commitMerge(head, work, tree, { commits, resolved: files }, repository);
}

/** A branch that was squashed into its target conflicts with what came later there, though nothing is left to merge. */
async function conflictOf(
  { commit: ours }: IntegrationHead,
  work: IntegrationWork,
  merged: Extract<MergeResult, { clean: false }>,
  repository: MergeRepository,
): Promise<Integration> {
  const { conflicts, files, tree } = merged;
  if (await wasSquashed(ours, work.tip, repository))
    return { kind: 'nothing', reason: `${work.target} has it already as one commit` };
  const merge: OpenConflict = {
    branch: work.branch,
    target: work.target,
    ours,
    theirs: work.tip,
    tree,
    conflicts,
    files,
  };
  return { kind: 'conflict', conflicts, files, merge };
}

async function wasSquashed(target: string, tip: string, repository: MergeRepository): Promise<boolean> {
  const call = callIn(repository);
  const base = await runGit(['merge-base', target, tip], call);
  const tree = await runGit(['rev-parse', `${tip}^{tree}`], call);
  if (base.code !== 0 || tree.code !== 0) return false;
  const squashed = await writeScratchCommit(tree.stdout.trim(), [base.stdout.trim()], repository);
  return (await gitText(['cherry', target, squashed], call)).startsWith('- ');
}

async function replayBranch(
  head: IntegrationHead,
  work: IntegrationWork,
  repository: MergeRepository,
): Promise<Integration> {
  const commits = await commitsToReplay(head, work, repository);
  if (typeof commits === 'string') return { kind: 'refused', reason: commits };
  if (commits.length === 0) return { kind: 'nothing', reason: `${work.target} has it already` };
  const replayed = await replayCommits(head, commits, work, repository);
  if (replayed.kind === 'made' && replayed.head.commit === head.commit)
    return { kind: 'nothing', reason: `${work.target} has these changes already` };
  return replayed;
}

/** A sentence where they cannot be replayed. */
async function commitsToReplay(
  { commit }: IntegrationHead,
  { tip, isSingle, strategy, branch }: IntegrationWork,
  repository: MergeRepository,
): Promise<BranchCommit[] | string> {
  const options = isSingle ? { limit: 1 } : { skipEquivalent: true };
  const range = { from: isSingle ? `${tip}^@` : commit, to: tip };
  if (!isSingle && (await runGit(['merge-base', commit, tip], callIn(repository))).code !== 0)
    return 'the histories share no commit; in a shallow clone run git fetch --unshallow first';
  const commits = isSingle
    ? await singleCommit(tip, repository)
    : await branchCommits(range, repository, options);
  const merge = commits.find(({ parents }) => parents.length > 1);
  if (merge === undefined) return commits;
  return `${branch} holds the merge commit ${merge.id.slice(0, 12)}, which ${strategy} cannot replay: use --strategy merge or squash`;
}

async function singleCommit(tip: string, repository: MergeRepository): Promise<BranchCommit[]> {
  const { stdout, code } = await runGit(['rev-parse', '--verify', '--quiet', `${tip}^1`], callIn(repository));
  if (code === 0) return branchCommits({ from: stdout.trim(), to: tip }, repository, { limit: 1 });
  throw new RametError(
    'root_commit',
    'terminal',
    `${tip.slice(0, 12)} is the first commit of its history and has nothing to be picked from`,
  );
}

/**
 * Names that differ in case only are two files to git and one to some disks: where this is such a disk, a conflict.
 *
 * Only what `after` adds to `before` is checked, and only if the repository says its disk ignores case.
 */
async function findCaseTwins(
  before: string,
  after: string,
  repository: MergeRepository,
): Promise<MergeConflict[]> {
  if (!ignoresCase(repository)) return [];
  const call = callIn(repository);
  const added = namesIn(
    await gitText(['diff-tree', '-r', '-z', '--name-only', '--diff-filter=A', before, after], call),
  );
  if (added.length === 0) return [];
  const byCase = Map.groupBy(
    namesIn(await gitText(['ls-tree', '-r', '-z', '--name-only', after], call)),
    folded,
  );
  return [...new Set(added.map(folded))].flatMap((name) => {
    const paths = byCase.get(name) ?? [];
    return paths.length < 2
      ? []
      : [{ kind: 'case', paths, message: `${paths.join(' and ')} are one file on this disk` }];
  });
}

function ignoresCase({ commonDirectory }: MergeRepository): boolean {
  return /^\s*ignorecase\s*=\s*true/im.test(readOrNull(join(commonDirectory, 'config')) ?? '');
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

function namesIn(output: string): string[] {
  return output.split('\0').filter((name) => name !== '');
}

/**
 * Puts commits one by one on top of another, as rebase and cherry-pick do, without a working tree. A commit's change is
 * merged with its own parent as the base: git 2.38 and 2.39 take no base, so a scratch commit with the tree of where we
 * are and the parent of what is replayed makes git find that base by itself.
 *
 * Commits whose change is there already leave nothing behind. Authors and their dates stay.
 */
async function replayCommits(
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
