/**
 * Which agent the running code works for, also behind awaits, timers and other libraries: for logs and guards of programs.
 * What an agent is and may do comes with the agent itself, never from here. Only an id is kept, so nothing that has ended stays reachable.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<string>();

/** Calls a function of a program, such as a tool or a hook, for an agent. */
export function actFor<T>(agent: string, work: () => T): T {
  return current.run(agent, work);
}

/** The id of the agent for which the code that calls this runs; null if it runs for none. */
export function currentAgentId(): string | null {
  return current.getStore() ?? null;
}
