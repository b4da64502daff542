/** What an agent is told of its worktree (U4, U5): it comes after everything that agents share, so that they go on sharing. */
import type { CreatedWorktree } from '../../workspace/worktrees/create-worktree.ts';
import type { DirtyReport } from '../../workspace/worktrees/dirty-work.ts';

const MOST_FILES = 20;

export function workspaceNotice(
  { worktree, notes, setup }: Pick<CreatedWorktree, 'worktree' | 'notes' | 'setup'>,
  from: string,
  dirty: DirtyReport,
): string {
  const { path, branch, base, slot } = worktree;
  return [
    '<worktree>',
    `You work in a worktree of your own: ${path}, on branch ${branch ?? '(none)'}, which began at commit ${base.slice(0, 12)}.`,
    `It is a copy of ${from}, where others work. A path in there that you were told of is the same path in here: ${from}/x is ${path}/x.`,
    'You write only in here; writes elsewhere are refused, and so is git stash. Commit on your branch when a step is done. Other branches you make begin with ramet/.',
    ...dirtyLines(dirty),
    ...notes,
    ...(setup === null || setup.code === 0 ? [] : [failedSetup(setup)]),
    `Your work stays on your branch: do not merge or push it. For ports and databases take numbers from RAMET_PORT_BASE on, or RAMET_SLOT (${slot}).`,
    '</worktree>',
  ].join('\n');
}

function failedSetup({ command, code, output }: NonNullable<CreatedWorktree['setup']>): string {
  return `The command that prepares worktrees, ${command}, failed (${code ?? 'ended by a signal'}): ${output.slice(-500).trim()}`;
}

function dirtyLines(dirty: DirtyReport): string[] {
  if (dirty.files === null) {
    return [
      `What is uncommitted there is not in here, and what that is git could not tell (${dirty.reason}).`,
    ];
  }
  const { files, policy } = dirty;
  if (files.length === 0) return ['Nothing was uncommitted there.'];
  const what = `${files.length} uncommitted file${files.length === 1 ? '' : 's'} of the user`;
  const fate =
    policy === 'carry'
      ? `${what} came with it, as they were, uncommitted`
      : `${what} did not come with it: here they are as committed, or absent`;
  const shown = files.slice(0, MOST_FILES).map(({ kind, path }) => `${kind} ${path}`);
  const more = files.length > MOST_FILES ? [`(${files.length - MOST_FILES} more)`] : [];
  return [`${fate}:`, ...shown, ...more];
}
