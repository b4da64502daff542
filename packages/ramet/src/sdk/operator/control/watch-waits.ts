/** Tells the operator which agents wait for their provider, and whose work that holds up. */
import type { AgentHandle } from '../../../engine/shapes.ts';
import type { Operator } from '../../../operator/run/operator.ts';
import type { Session } from '../../session/session-type.ts';

/**
 * A task whose agent waits for its provider says so, and until when. So does one whose agent works, and waits for
 * another agent that it has started: a person who looks at the task sees why nothing happens.
 */
export function watchWaits(session: Session, operator: Operator): Disposable {
  const leave = session.subscribe((event) => {
    if (event.type !== 'status_changed') return;
    const { agentId, status, cause, until = null } = event;
    const isAway = status === 'waiting' && (cause === 'limit' || cause === 'provider');
    operator.agentWaits(topOf(agentId, session), isAway ? { cause, until } : null);
  });
  return { [Symbol.dispose]: leave };
}

/**
 * The agent that does a task or a review, and for which another one works.
 * An agent without a handle here works for nobody else.
 */
function topOf(id: string, { agents, agent: main }: Session): Parameters<Operator['agentWaits']>[0] {
  const handleOf = (wanted: string): AgentHandle | undefined => agents.find((one) => one.id === wanted);
  let top = handleOf(id);
  for (let above = top; above !== undefined; above = handleOf(above.parent)) {
    top = above;
    if (above.parent === main.id) break;
  }
  return { id, top: top?.id ?? id, name: top?.name ?? null };
}
