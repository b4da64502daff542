/** Agents as people think of them: children under their parents, siblings by birth. */
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

export interface TreeMember {
  id: AgentId;
  parent: AgentId | null;
}

export interface TreePlace<Member> {
  agent: Member;
  /** 0 for one that has no parent among them. */
  level: number;
}

/** Every member once, each after its parent; the members come by birth. A parent that is not there is nobody's. */
export function agentTree<Member extends TreeMember>(members: readonly Member[]): TreePlace<Member>[] {
  const known = new Set(members.map(({ id }) => id));
  const children = Map.groupBy(members, ({ id, parent }) =>
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

/** What kind of agent it is: a fork is a fork, whatever type its parent has. */
export function typeOfAgent({ agentType, origin }: EventOf<'agent.started'>): string {
  return origin?.kind === 'fork' ? 'fork' : agentType;
}
