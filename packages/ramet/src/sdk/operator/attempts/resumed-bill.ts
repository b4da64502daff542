/** What an agent of an earlier process has cost: one that is told to resume counts only from there on. */
import type { AgentOverview } from '../../../journal/projections/status.ts';
import { addCost, addUsage, type Usage } from '../../../schema/usage.ts';
import type { AttemptPlace } from './attempt-agents.ts';

interface Billed {
  readonly costUsd: number | null;
  readonly usage: Usage;
}

/** Looks before `begin` is called: afterwards the agent is no longer as it was left. */
export function withEarlierBill<End extends Billed>(
  { name, isResumed }: { name: string; isResumed: boolean },
  place: Pick<AttemptPlace, 'running' | 'recorded'>,
  begin: () => { readonly ended: Promise<End>; stop(reason: string): void },
): { readonly ended: Promise<End>; stop(reason: string): void } {
  const past = isResumed ? toldToResume(name, place) : null;
  const live = begin();
  if (past === null) return live;
  const ended = live.ended.then((end) => ({
    ...end,
    ...{ costUsd: addCost(past.costUsd, end.costUsd), usage: addUsage(past.usage, end.usage) },
  }));
  return { ended, stop: (reason) => live.stop(reason) };
}

/** Those that resume by themselves bring what they have cost. */
function toldToResume(
  name: string,
  { running, recorded }: Pick<AttemptPlace, 'running' | 'recorded'>,
): AgentOverview | null {
  if (running().some((handle) => handle.name === name)) return null;
  const past = recorded(name);
  return past?.status === 'interrupted' ? past : null;
}
