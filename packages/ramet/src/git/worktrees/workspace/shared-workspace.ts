/**
 * A worktree as one of several agents in it has it (OP-9): it may write its own files alone, keeps no checkpoints of what is
 * not all its own, and does not give the worktree back. Who made the worktree for them does that.
 */
import type { RecordedWorktree } from '../../../schema/events.ts';
import type { AgentWorkspace } from './agent-workspace.ts';

export function sharedWorkspace(
  workspace: AgentWorkspace,
  { only }: NonNullable<RecordedWorktree['shared']>,
  onRefused?: (refusal: string) => void,
): AgentWorkspace {
  const worktree = { ...workspace.worktree, shared: { only } };
  const { bounds, env, warnings, recovered, setupFailure } = workspace;
  return {
    worktree,
    created: { ...workspace.created, shared: { only } },
    fence: { ...workspace.fence, ...(only !== null && { only }) },
    ...{ bounds, env, warnings, recovered, onRefused },
    ...(setupFailure !== undefined && { setupFailure }),
    notice: noticeOf(worktree, only),
    giveTo() {},
    checkpoint: async () => null,
    release: async () => ({ kept: true, reasons: ['others work in it'] }),
  };
}

function noticeOf(
  { path, from }: Pick<RecordedWorktree, 'path' | 'from'>,
  only: readonly string[] | null,
): AgentWorkspace['notice'] {
  const rules = `copy of ${from}: tools translate its paths. Agents of other tasks work in it too. ${ownFiles(only)} Do not commit, merge, push or stash.`;
  return {
    whole: `<worktree>\nYou work in the git worktree ${path}, a ${rules}\n</worktree>`,
    brief: `Shared worktree, ${rules}`,
  };
}

function ownFiles(only: readonly string[] | null): string {
  if (only === null) return 'Leave alone what they change.';
  return only.length === 0 ? 'You only read here.' : `Write only the files of your task: ${only.join(', ')}.`;
}
