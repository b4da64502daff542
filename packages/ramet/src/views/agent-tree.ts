/** Agents as people think of them: children under their parents, siblings by number. */
import type { AgentId } from '../schema/ids.ts';

export interface TreeMember {
  id: AgentId;
  parent: AgentId | null;
}

export interface TreePlace<Member> {
  agent: Member;
  /** 0 for one that has no parent among them. */
  level: number;
}

/**
 * Every member once, each after its parent. A parent that is not there is nobody's. Siblings were asked for in the order
 * of their numbers, and that is how they are shown: those of one message may begin in another order.
 */
export function agentTree<Member extends TreeMember>(members: readonly Member[]): TreePlace<Member>[] {
  const known = new Set(members.map(({ id }) => id));
  const numbered = members.toSorted((one, other) => numberOf(one.id) - numberOf(other.id));
  const children = Map.groupBy(numbered, ({ id, parent }) =>
    parent !== null && parent !== id && known.has(parent) ? parent : null,
  );
  const places: TreePlace<Member>[] = [];
  const open = (children.get(null) ?? []).map((agent) => ({ agent, level: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    places.push(next);
    const level = next.level + 1;
    for (const agent of (children.get(next.agent.id) ?? []).toReversed()) open.push({ agent, level });
  }
  return places;
}

function numberOf(id: AgentId): number {
  return Number(id.slice(id.lastIndexOf('.') + 1));
}
