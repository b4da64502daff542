import type { AgentEvent } from '../../engine/agent/agent-event.ts';
import type { AgentSpec } from '../../engine/agent/runtime.ts';
import type { AgentId } from '../../schema/ids.ts';

/** An agent's event with the agent it is of. */
export type SessionEvent = AgentEvent & { agentId: AgentId; parentAgentId: AgentId | null };

export function attributed(
  event: AgentEvent,
  { id, parent }: Pick<AgentSpec, 'id' | 'parent'>,
): SessionEvent {
  return { ...event, agentId: id, parentAgentId: parent };
}
