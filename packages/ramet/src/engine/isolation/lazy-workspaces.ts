/** Most sessions isolate nobody: what worktrees take is loaded with the first agent that needs one. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { WorkspacesOptions, WorktreeWorkspaces } from '../../git/shapes.ts';
import type { AgentWorkspaces } from '../../git/worktrees/workspace/agent-workspace.ts';

export interface LazyWorkspaces extends AgentWorkspaces {
  /**
   * Where agents of the project have had worktrees they will have them again: what that takes is loaded while a
   * session's start waits for git, so that the first agent does not wait for it. False where they have had none. Never
   * rejects: what cannot be loaded shows when it is needed.
   */
  expect(project: string): Promise<boolean>;
}

export function lazyWorkspaces(options: WorkspacesOptions): LazyWorkspaces {
  let loaded: Promise<WorktreeWorkspaces> | null = null;
  const workspaces = (): Promise<WorktreeWorkspaces> => {
    loaded ??= import('../../git/worktrees/workspace/worktree-workspaces.ts').then(({ worktreeWorkspaces }) =>
      worktreeWorkspaces(options),
    );
    return loaded;
  };
  return {
    create: async (request) => (await workspaces()).create(request),
    enter: async (request) => (await workspaces()).enter(request),
    resume: async (worktree, signal) => (await workspaces()).resume(worktree, signal),
    async expect(project) {
      if (!existsSync(join(options.home, 'worktrees', basename(project)))) return false;
      // Not before git was started.
      await new Promise(setImmediate);
      const ahead = [workspaces().then((all) => all.prepare()), import('./child-workspace.ts')];
      await Promise.allSettled(ahead);
      return true;
    },
    [Symbol.asyncDispose]: async () => (await loaded)?.[Symbol.asyncDispose](),
  };
}
