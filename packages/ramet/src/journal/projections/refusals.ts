/**
 * How often each kind of call was refused to an agent (FORK-4). Plain data, folded by one function: live, on resume and
 * for a fork. The third refusal of a kind tells the agent to do what needs no such call, once.
 */
import type { EventOf, JournalEvent } from '../../schema/events.ts';

export interface RefusalCount {
  /** Tool and reason, without what names one call alone. */
  readonly kind: string;
  readonly count: number;
  /** The call whose result said so; null while none did. */
  readonly toldBy: string | null;
}

/** The kind that was refused last is the last one. */
export type Refusals = readonly RefusalCount[];

const EQUAL_UNTIL_TOLD = 3;
/** Those that come up again and again matter: the oldest are forgotten. */
const MOST_KINDS = 50;

/** The same value for an event that refuses nothing. */
export function foldRefusals(refusals: Refusals, event: JournalEvent): Refusals {
  if (event.type === 'conversation.inherited') return event.refusals ?? refusals;
  if (event.type !== 'tool.completed' || event.refused === undefined) return refusals;
  return countRefusal(refusals, event.refused, event.call);
}

export function countRefusal(refusals: Refusals, kind: string, call: string): Refusals {
  const { count, toldBy } = refusals.find((known) => known.kind === kind) ?? { count: 0, toldBy: null };
  const tells = toldBy === null && count + 1 >= EQUAL_UNTIL_TOLD;
  const counted = { kind, count: count + 1, toldBy: tells ? call : toldBy };
  return [...refusals.filter((known) => known.kind !== kind), counted].slice(-MOST_KINDS);
}

/** Whether the result of this call is the one that says it. */
export function tellsBy(refusals: Refusals, call: string): boolean {
  return refusals.some(({ toldBy }) => toldBy === call);
}

/** What a fork starts with: it does not see the results of `open`, the calls of the message that asked for it. */
export function refusalsOfFork(
  refusals: Refusals,
  open: ReadonlySet<string>,
): Pick<EventOf<'conversation.inherited'>, 'refusals'> {
  if (refusals.length === 0) return {};
  return {
    refusals: refusals.map((known) => (open.has(known.toldBy ?? '') ? { ...known, toldBy: null } : known)),
  };
}
