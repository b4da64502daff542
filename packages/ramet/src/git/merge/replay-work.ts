/**
 * Work that was done on one commit, put on top of another that does not hold the first: only what it changed comes along, not
 * what it began with. Writes objects only, never a ref.
 */
import { gitText } from '../run-git.ts';
import type { Integration, IntegrationHead } from './integration.ts';
import { callIn, type MergeRepository, treeOf } from './merge-repository.ts';
import { mergeTrees } from './merge-trees.ts';
import { type NewCommit, writeCommit, writeScratchCommit } from './write-commit.ts';

export interface ReplayedWork {
  /** As messages show it. */
  branch: string;
  target: string;
  /** The change from `from` to `to`; the message and the author are those of `to`. */
  from: string;
  to: string;
}

/** One commit on top of `head`. A commit of scratch gives the merge its base. */
export async function replayWork(
  head: IntegrationHead,
  { branch, target, from, to }: ReplayedWork,
  repository: MergeRepository,
): Promise<Integration> {
  const tree = await treeOf(head, repository);
  const scratch = await writeScratchCommit(tree, [from], repository);
  const merged = await mergeTrees([scratch, to], callIn(repository));
  if (!merged.clean) {
    const { conflicts, files } = merged;
    const merge = { branch, target, ours: head.commit, theirs: to, tree: merged.tree, conflicts, files };
    return { kind: 'conflict', conflicts, files, merge };
  }
  if (merged.tree === tree) return { kind: 'nothing', reason: `${target} has these changes already` };
  return { kind: 'made', head: await commitReplayed(head, to, merged.tree, repository) };
}

/** The same with a tree that was found in another way. */
export async function commitReplayed(
  head: IntegrationHead,
  from: string,
  tree: string,
  repository: MergeRepository,
): Promise<IntegrationHead> {
  const commit = { tree, parents: [head.commit], ...(await wordsOf(from, repository)) };
  return { commit: await writeCommit(commit, repository), tree };
}

async function wordsOf(
  commit: string,
  repository: MergeRepository,
): Promise<Pick<NewCommit, 'message' | 'author'>> {
  const format = ['show', '--no-patch', '--format=%an%n%ae%n%ad%n%B', '--date=raw', commit];
  const [name = '', email = '', date = '', ...message] = (await gitText(format, callIn(repository))).split(
    '\n',
  );
  return { message: message.join('\n'), author: { name, email, date: `@${date}` } };
}
