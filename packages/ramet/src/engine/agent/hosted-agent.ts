/** An agent in the process that has keys, limits and rules. The loop itself asks `AgentHost` and never needs this. */
import { Agent } from './agent.ts';
import type { AgentGuest, SessionRuntime } from './runtime.ts';

export type HostedAgent = Agent & { readonly runtime: SessionRuntime };

/** Throws in an agent's own process: what asks for this there is wrong. */
export function hosted(guest: AgentGuest): HostedAgent {
  if (isHosted(guest)) return guest;
  throw new Error(`${guest.spec.id} is not in the process of its host`);
}

function isHosted(guest: AgentGuest): guest is HostedAgent {
  return guest instanceof Agent && 'provider' in guest.runtime;
}
