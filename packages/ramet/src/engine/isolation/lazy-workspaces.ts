/** Most sessions isolate nobody: what worktrees take is loaded with the first agent that needs one. */
import type { AgentWorkspaces } from './agent-workspace.ts';
import type { WorkspacesOptions } from './worktree-workspaces.ts';

export function lazyWorkspaces(options: WorkspacesOptions): AgentWorkspaces {
  let loaded: Promise<AgentWorkspaces> | null = null;
  const workspaces = (): Promise<AgentWorkspaces> => {
    loaded ??= import('./worktree-workspaces.ts').then(({ worktreeWorkspaces }) =>
      worktreeWorkspaces(options),
    );
    return loaded;
  };
  return {
    create: async (request) => (await workspaces()).create(request),
    enter: async (request) => (await workspaces()).enter(request),
    resume: async (worktree, signal) => (await workspaces()).resume(worktree, signal),
    [Symbol.asyncDispose]: async () => (await loaded)?.[Symbol.asyncDispose](),
  };
}
