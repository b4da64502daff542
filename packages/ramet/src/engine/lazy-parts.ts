/** Most sessions start no agents, and fewer isolate them: what that takes is loaded with the first call that needs it. */

import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { WorkspacesOptions, WorktreeWorkspaces } from '../git/shapes.ts';
import type { AgentWorkspaces } from '../git/worktrees/workspace/agent-workspace.ts';
import type { AgentId } from '../schema/ids.ts';
import type { AgentDesk } from '../tools/agent-desk.ts';
import type { CalledAgent, SessionRuntime } from './agent/runtime.ts';
import type { AgentFamily } from './children/family.ts';

let loaded: Promise<typeof import('./children/desk.ts')> | null = null;

/** Asked once: an import that is already there still takes a tenth of a millisecond. One that failed is tried again. */
function loadDesk(): Promise<typeof import('./children/desk.ts')> {
  loaded ??= import('./children/desk.ts').catch((error) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

/** The first call of an agent finds it loaded; a failure shows when it is called. */
export function prepareDesks(): () => void {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    loadDesk().catch(() => {});
  };
}

/** Most agents are never interrupted: finding the agents that open calls had started is loaded when there are any. */
export async function lazyCalledAgents(
  family: AgentFamily,
  runtime: Pick<SessionRuntime, 'journal' | 'redact' | 'outputDirectory'>,
  parent: AgentId,
  calls: readonly string[],
): Promise<ReadonlyMap<string, CalledAgent>> {
  if (calls.length === 0) return new Map();
  const { calledAgents } = await import('./children/called-agents.ts');
  return calledAgents(family, runtime, parent, calls);
}

export function lazyDesk(family: AgentFamily, id: AgentId, call: string, signal: AbortSignal): AgentDesk {
  const desk = async (): Promise<AgentDesk> => {
    const { createDesk } = await loadDesk();
    return createDesk(family, id, call, signal);
  };
  return {
    spawn: async (request) => (await desk()).spawn(request),
    send: async (to, message) => (await desk()).send(to, message),
    look: async (task, wait) => (await desk()).look(task, wait),
    stop: async (task) => (await desk()).stop(task),
    ...(family.team !== null && {
      tasks: family.team.tasksFor(id, call, signal),
      plans: family.team.plansFor(id, call),
    }),
    ...(family.coordinator !== null && { coordination: family.coordinator.deskFor(id) }),
  };
}

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
    loaded ??= import('../git/worktrees/workspace/worktree-workspaces.ts').then(({ worktreeWorkspaces }) =>
      worktreeWorkspaces(options),
    );
    return loaded;
  };
  return {
    create: async (request) => (await workspaces()).create(request),
    enter: async (request) => (await workspaces()).enter(request),
    resume: async (worktree, signal) => (await workspaces()).resume(worktree, signal),
    settled: async (id) => (await loaded)?.settled(id),
    async expect(project) {
      if (!existsSync(join(options.home, 'worktrees', basename(project)))) return false;
      // Not before git was started.
      await new Promise(setImmediate);
      const ahead = [workspaces().then((all) => all.prepare()), import('./isolation/child-workspace.ts')];
      await Promise.allSettled(ahead);
      return true;
    },
    [Symbol.asyncDispose]: async () => (await loaded)?.[Symbol.asyncDispose](),
  };
}
