/**
 * Lets an agent resolve a conflict in a worktree of its own, where the files stand with conflict markers. What it leaves
 * is proved before it counts: the agent says it is done and no marker is left in any file that had a conflict. Whether
 * the result works is for the check to say.
 */
import { join } from 'node:path';
import { openSession } from '../../sdk/session.ts';
import { gitText, runGit } from '../../workspace/git/run-git.ts';
import { describeConflicts, type OpenConflict } from '../../workspace/merge/integration.ts';
import { requireObjectId } from '../../workspace/merge/merge-output.ts';
import { callIn, type MergeRepository } from '../../workspace/merge/merge-repository.ts';
import { openPrivateWorktree, removePrivateWorktree } from '../../workspace/merge/private-worktree.ts';
import { writeScratchCommit } from '../../workspace/merge/write-commit.ts';
import type { CommandIo } from '../io.ts';

export interface ResolverPlace {
  repository: MergeRepository;
  project: string;
  io: CommandIo;
}

/** What no editing of text can decide. */
const UNDECIDABLE = /binary|submodule|modes|unrelated|unknown/;

export function agentResolver(place: ResolverPlace): (conflict: OpenConflict) => Promise<string | null> {
  return async (conflict) => {
    if (conflict.conflicts.some(({ kind }) => UNDECIDABLE.test(kind))) return null;
    const { repository, project } = place;
    const directory = join(project, 'merge', `resolve-${conflict.theirs.slice(0, 12)}`);
    const marked = await writeScratchCommit(conflict.tree, [conflict.ours, conflict.theirs], repository);
    try {
      await openPrivateWorktree(directory, marked, repository);
      return (await askAgent(conflict, directory, place))
        ? await provedTree(conflict, directory, place)
        : null;
    } finally {
      await removePrivateWorktree(directory, repository);
    }
  };
}

async function askAgent(conflict: OpenConflict, directory: string, { io }: ResolverPlace): Promise<boolean> {
  await using session = await openSession({ cwd: directory, env: io.env, permissionMode: 'acceptEdits' });
  io.progress(`merge: agent ${session.agent.id} resolves ${conflict.branch}`);
  const events = session.run(promptFor(conflict), { signal: io.signal });
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value.status === 'done';
  }
}

/** Null while a marker is left. */
async function provedTree(
  { files }: OpenConflict,
  directory: string,
  { repository }: ResolverPlace,
): Promise<string | null> {
  const call = { ...callIn(repository), cwd: directory };
  await gitText(['add', '--all'], call);
  const pathspecs = files.map((path) => `:(literal)${path}`);
  const markers = ['-e', '^<<<<<<< ', '-e', '^>>>>>>> ', '-e', '^||||||| '];
  const found = await runGit(['grep', '--cached', '--quiet', '--text', ...markers, '--', ...pathspecs], call);
  if (found.code !== 1) return null;
  return requireObjectId(await gitText(['write-tree'], call), 'git write-tree');
}

function promptFor({ branch, target, ours, theirs, conflicts, files }: OpenConflict): string {
  return [
    `The branch ${branch} is being merged into ${target} and git could not decide: ${describeConflicts(conflicts)}.`,
    `You are in a checkout of the merge, where these files hold conflict markers (<<<<<<<, =======, >>>>>>>): ${files.join(', ')}.`,
    `The side above ======= is ${target} (commit ${ours}), the side below is ${branch} (commit ${theirs}).`,
    'Read each file, find out what both sides want, and edit it so that both intentions are kept and no marker is left. A file that one side removed and the other changed is yours to keep or to delete. Change nothing else, and do not commit.',
  ].join('\n');
}
