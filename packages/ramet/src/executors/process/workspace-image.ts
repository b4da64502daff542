/** The worktree of an agent in a process of its own (EXEC-2): where it may write. Keeping and clearing it is its host's. */
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';

export type WorkspaceImage = Omit<AgentWorkspace, 'giveTo' | 'checkpoint' | 'release'>;

export function workspaceImage(workspace: AgentWorkspace): WorkspaceImage {
  const { worktree, created, fence, bounds, env, notice, warnings, recovered } = workspace;
  return { worktree, created, fence, bounds, env, notice, warnings, recovered };
}

export function followedWorkspace(image: WorkspaceImage): AgentWorkspace {
  return {
    ...image,
    giveTo() {},
    checkpoint: async () => null,
    release: async () => ({ kept: true, reasons: ['its host has it'] }),
  };
}
