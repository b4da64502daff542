/** Runs a check on a commit that nobody merges: in the worktree of a target's checks, and not twice on the same files. */
import type { MergePorts } from './merge-request.ts';
import { type CheckCommand, type CheckOutcome, createChecker } from './run-check.ts';

export async function checkCommit(
  commit: string,
  check: CheckCommand,
  ports: Omit<MergePorts, 'entries'> & { target: string },
): Promise<CheckOutcome> {
  const { project, repository, target, checkTrees, outcomes, diskRoom } = ports;
  const run = createChecker(check, {
    ...{ project, repository, target, worktrees: checkTrees, room: diskRoom },
    known: outcomes ?? new Map(),
    prepare: async (...at) => (await ports.prepareCheck?.(...at)) ?? [],
    onStart: (begun) => ports.onCheck?.(begun),
  });
  return run({ commit, tree: null });
}
