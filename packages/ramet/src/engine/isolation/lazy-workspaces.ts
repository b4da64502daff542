/** Most sessions isolate nobody: what worktrees take is loaded with the first agent that needs one. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
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

/**
 * Where agents have had worktrees they will have them again: what that takes is loaded while a session's start waits
 * for git, so that the first agent does not wait for it. Never rejects: what cannot be loaded shows when it is needed.
 */
export async function expectWorkspaces({
  home,
  project,
}: {
  home: string;
  project: string;
}): Promise<boolean> {
  if (!existsSync(join(home, 'worktrees', basename(project)))) return false;
  // Not before git was started.
  await new Promise(setImmediate);
  await Promise.allSettled([import('./worktree-workspaces.ts'), import('./child-workspace.ts')]);
  return true;
}
