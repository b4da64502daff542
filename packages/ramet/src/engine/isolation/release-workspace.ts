/** An agent that has ended gives its worktree back (WORK-3): unchanged ones vanish, changed ones stay and are told of. */

import type { WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { Agent } from '../agent/agent.ts';

/** Null for an agent without a worktree of its own. */
export async function releaseWorkspace(agent: Agent): Promise<WorktreeResult | null> {
  const { directory } = agent;
  const { workspace } = directory;
  if (workspace === null || !directory.isOwn) return null;
  const end = await workspace.release(directory.lastCheckpoint());
  agent.record({ type: 'worktree.released', ...workspace.worktree, ...end });
  await agent.runtime.journal.commit('written').catch(() => {}); // a broken journal is told by whoever runs on
  return { ...workspace.worktree, ...end };
}
