/** Where an agent of an earlier process resumes (WORK-8): in the worktree it had, which is restored if it is gone. */

import { type AgentWorkspace, directoryIn } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import type { AgentOrigin, RecordedWorktree } from '../../schema/events.ts';
import type { Agent } from '../agent/agent.ts';
import { directoryChanged } from '../agent/notices.ts';
import type { AgentSpec, SessionRuntime } from '../agent/runtime.ts';

export type Housing = Pick<AgentSpec, 'cwd' | 'workspace' | 'isWorkspaceOwn'>;

/** The worktree it worked in when it was last heard of; null when that was none of its own. */
export function lastWorktree(
  origin: AgentOrigin | undefined,
  { directory }: Pick<AgentState, 'directory'>,
): RecordedWorktree | null {
  return directory === null ? (origin?.worktree ?? null) : directory.worktree;
}

/** Null for an agent that works where its parent does. Rejects when its worktree is not available. */
export async function resumedHousing(
  runtime: SessionRuntime,
  worktree: RecordedWorktree | null,
  outside: string,
): Promise<Housing | null> {
  if (worktree === null) return null;
  return housingIn(await runtime.workspaces.resume(worktree), outside);
}

/** In a worktree that was kept for it, as it left it. */
export function housingIn(workspace: AgentWorkspace, outside: string): Housing {
  return { cwd: directoryIn(workspace.worktree, outside), workspace, isWorkspaceOwn: true };
}

/**
 * Records that it is in its worktree again, and tells it when that is not as it left it. `outside` is where an agent
 * that went there by itself goes back to. One that was kept for it is as it was.
 */
export function settleIn(
  agent: Agent,
  { directory }: Pick<AgentState, 'directory'>,
  outside: string,
  wasKept = false,
): void {
  const { workspace, isOwn } = agent.directory;
  if (workspace === null || !isOwn) return;
  if (wasKept) {
    if (directory !== null) agent.directory.resume(outside);
    return;
  }
  agent.record(workspace.created);
  if (directory !== null) agent.directory.resume(outside);
  if (workspace.recovered !== null) {
    agent.receive('notification', null, directoryChanged(workspace.recovered));
  }
}
