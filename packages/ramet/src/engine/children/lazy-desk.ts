/** Most sessions start no agents: what that takes is loaded with the first call that needs it. */
import type { AgentId } from '../../schema/ids.ts';
import type { AgentDesk } from '../../tools/agent-desk.ts';
import type { CalledAgent, SessionRuntime } from '../agent/runtime.ts';
import type { AgentFamily } from './family.ts';

let loaded: Promise<typeof import('./desk.ts')> | null = null;

/** Asked once: an import that is already there still takes a tenth of a millisecond. One that failed is tried again. */
function loadDesk(): Promise<typeof import('./desk.ts')> {
  loaded ??= import('./desk.ts').catch((error) => {
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
  const { calledAgents } = await import('./called-agents.ts');
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
  };
}
