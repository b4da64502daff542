/**
 * What an agent is told about its worktree. It comes after everything that agents share, and is short: with it,
 * five agents in five worktrees are to cost what five in one directory do.
 */

import type { DirtyReport } from '../changes/dirty-work.ts';
import type { CreatedWorktree } from '../create-worktree.ts';

const MOST_FILES = 20;

export interface WorkspaceNotice {
  /** For who knows nothing of where it is. */
  whole: string;
  /** For who is told its directory and branch anyway. */
  brief: string;
}

export function workspaceNotice(
  {
    worktree,
    how,
    notes,
    missing,
    setup,
  }: Pick<CreatedWorktree, 'worktree' | 'how' | 'notes' | 'missing' | 'setup'>,
  from: string,
  dirty: DirtyReport,
): WorkspaceNotice {
  const { path, branch, base } = worktree;
  const rules = `copy of ${from}: tools translate its paths. Write only here; commit, never merge or push. Ports: $RAMET_PORT_BASE.`;
  const further = [
    ...(how === 'hook' ? ['a WorktreeCreate hook of the user has made and prepared this directory'] : []),
    ...dirtyLines(dirty, how === 'hook'),
    ...notes,
    ...missing.map(({ forAgent }) => forAgent),
    ...(setup === null || setup.code === 0 ? [] : [failedSetup(setup)]),
  ];
  const where = `${path}, branch ${branch ?? '(none)'} from ${base.slice(0, 12)}`;
  const whole = `You work in your own git worktree ${where}, a ${rules}`;
  return {
    whole: ['<worktree>', whole, ...further, '</worktree>'].join('\n'),
    brief: [`Own worktree, ${rules}`, ...further].join('\n'),
  };
}

export function failedSetup({
  command,
  code,
  output,
  refused,
}: NonNullable<CreatedWorktree['setup']>): string {
  if (refused !== undefined)
    return `The set-up command of worktrees, ${command}, did not run: ${refused}. Say so in your report.`;
  return `The set-up command of worktrees, ${command}, failed (${code ?? 'ended by a signal'}): ${output.slice(-500).trim()}`;
}

function dirtyLines(dirty: DirtyReport, isOfHook: boolean): string[] {
  if (dirty.files === null) {
    return [`Uncommitted files were not copied here, and git could not list them (${dirty.reason}).`];
  }
  const { files, policy } = dirty;
  if (files.length === 0) return [];
  const what = `${files.length} uncommitted file${files.length === 1 ? '' : 's'} of the user`;
  const fate =
    policy === 'carry'
      ? `${what} were copied here, still uncommitted`
      : `${what} were not copied${isOfHook ? ' by Ramet; here they are as the hook left them' : '; here they are as committed, or absent'}`;
  const shown = files.slice(0, MOST_FILES).map(({ kind, path }) => `${kind} ${path}`);
  const more = files.length > MOST_FILES ? [`(${files.length - MOST_FILES} more)`] : [];
  return [`${fate}:`, ...shown, ...more];
}
