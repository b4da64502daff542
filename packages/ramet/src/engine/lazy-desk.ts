/** Most sessions start no agents: what that takes is loaded with the first call that needs it. */
import type { AgentId } from '../schema/ids.ts';
import type { AgentDesk } from '../tools/agent-desk.ts';
import type { AgentFamily } from './family.ts';

/** The first call of an agent finds it loaded; a failure shows when it is called. */
export function prepareDesks(): () => void {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    void import('./desk.ts').catch(() => {});
  };
}

export function lazyDesk(family: AgentFamily, id: AgentId, call: string, signal: AbortSignal): AgentDesk {
  const desk = async (): Promise<AgentDesk> => {
    const { createDesk } = await import('./desk.ts');
    return createDesk(family, id, call, signal);
  };
  return {
    spawn: async (request) => (await desk()).spawn(request),
    send: async (to, message) => (await desk()).send(to, message),
    look: async (task, wait) => (await desk()).look(task, wait),
    stop: async (task) => (await desk()).stop(task),
  };
}
