/** How an agent is called in tables: `.2 fork parser: mend the parser`, further in for every level of the tree. */
import type { AgentResult } from '../engine/shapes.ts';
import type { ThinkingConfig } from '../schema/content.ts';
import type { AgentId } from '../schema/ids.ts';
import type { AgentStatus } from '../schema/status.ts';
import { untilText } from '../schema/until-text.ts';
import { dollars, duration, excerpt, printable, usageTokens } from './text/format.ts';

export interface LabelledAgent {
  id: AgentId;
  type: string;
  name: string | null;
  description: string | null;
}

const LONGEST = 60;

/** `.2` of `abcd1234.2`: commands take it for an agent of the latest session. */
export function shortId(id: AgentId): string {
  return id.slice(Math.max(0, id.lastIndexOf('.')));
}

/** What an agent is called and what it is for, as far as anybody said; what a model wrote is made safe to print. */
export function purposeOf({ name, description }: Pick<LabelledAgent, 'name' | 'description'>): string {
  return excerpt([name, description].filter(Boolean).join(': '), LONGEST);
}

/** `waiting: limit until 16:40 (in 2 h 3 min)`: what an agent is, why, and for how long where that is known. */
export function statusOf(
  { status, cause, until }: { status: AgentStatus; cause: string | null; until?: number | null | undefined },
  now: number,
): string {
  const time = until == null || until <= now ? '' : ` until ${untilText(until, now)}`;
  return `${cause === null ? status : `${status}: ${cause}`}${time}`;
}

/** The same of an agent of this process: how long it waits is known by a clock that nobody sets. */
export function liveStatusOf(
  { status, cause, leftMs }: { status: AgentStatus; cause: string | null; leftMs?: number | undefined },
  now: number,
): string {
  return statusOf({ status, cause, until: leftMs === undefined ? null : now + leftMs }, now);
}

export function agentLabel(agent: LabelledAgent, level: number): string {
  const purpose = purposeOf(agent);
  return `${'  '.repeat(level)}${shortId(agent.id)} ${excerpt(agent.type, LONGEST)}${purpose && ` ${purpose}`}`;
}

/** `effort high`, `thinking 10000`; empty where nobody chose. */
export function thinkingText(thinking: ThinkingConfig | null): string {
  if (thinking === null) return '';
  if (thinking.type === 'enabled') return `thinking ${thinking.budget_tokens}`;
  if (thinking.type === 'disabled') return 'thinking off';
  return thinking.effort === undefined ? 'thinking adaptive' : `effort ${thinking.effort}`;
}

/** How an agent ended, `failed: max_turns: ...`, and what that took, `2 turns, 5.0k tokens, $0.0100, 3.0 s`. */
export function endingOf(result: AgentResult): { ending: string; figures: string } {
  const { status, cause, message, turns, usage, costUsd, durationMs, worktree } = result;
  // For a stopped agent the message says no more than the cause.
  const explained = status === 'failed' || status === 'timed_out';
  const ending = [status, cause, explained ? message : null].filter(Boolean).join(': ');
  const sums = [`${turns} turn${turns === 1 ? '' : 's'}`, `${usageTokens(usage)} tokens`];
  const work = worktree?.kept === true ? [`work on ${printable(worktree.branch ?? worktree.path)}`] : [];
  return { ending, figures: [...sums, dollars(costUsd), duration(durationMs), ...work].join(', ') };
}

interface TreeMember {
  id: AgentId;
  parent: AgentId | null;
}

export interface TreePlace<Member> {
  agent: Member;
  /** 0 for one that has no parent among them. */
  level: number;
}

/**
 * Every member once, each after its parent; a missing parent counts as none. Siblings are shown by number, in the order
 * in which they were asked for: those of one message may begin in another order.
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
