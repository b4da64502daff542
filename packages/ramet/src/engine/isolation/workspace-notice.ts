/**
 * What an agent is told of its worktree (U4, U5). It comes after everything that agents share, and is short: with it,
 * five agents in five worktrees are to cost what five in one directory do.
 */
import type { CreatedWorktree } from '../../workspace/worktrees/create-worktree.ts';
import type { DirtyReport } from '../../workspace/worktrees/dirty-work.ts';

const MOST_FILES = 20;

export function workspaceNotice(
  { worktree, notes, setup }: Pick<CreatedWorktree, 'worktree' | 'notes' | 'setup'>,
  from: string,
  dirty: DirtyReport,
): string {
  const { path, branch, base } = worktree;
  return [
    '<worktree>',
    `You work in a git worktree of your own: ${path}, branch ${branch ?? '(none)'} from ${base.slice(0, 12)}. It is a copy of ${from}: a path below that is the same path here. Write only here, and no git stash. Commit what is done; neither merge nor push it. Ports and databases: $RAMET_PORT_BASE, $RAMET_SLOT.`,
    ...dirtyLines(dirty),
    ...notes,
    ...(setup === null || setup.code === 0 ? [] : [failedSetup(setup)]),
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
  if (files.length === 0) return [];
  const what = `${files.length} uncommitted file${files.length === 1 ? '' : 's'} of the user`;
  const fate =
    policy === 'carry'
      ? `${what} came with it, as they were, uncommitted`
      : `${what} did not come with it; here they are as committed, or absent`;
  const shown = files.slice(0, MOST_FILES).map(({ kind, path }) => `${kind} ${path}`);
  const more = files.length > MOST_FILES ? [`(${files.length - MOST_FILES} more)`] : [];
  return [`${fate}:`, ...shown, ...more];
}
