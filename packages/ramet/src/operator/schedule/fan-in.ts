/**
 * What lands when some tasks pass and others do not (OP-4). Partial failure is a state: every answer says what lands now, what
 * is stopped, and whether the run can still succeed.
 */

export type FanInPolicy =
  | { kind: 'all' }
  | { kind: 'best-effort' }
  | { kind: 'quorum'; least: number }
  | { kind: 'first' };

export type TaskOutcome = 'pending' | 'passed' | 'failed';

export interface FanInVerdict {
  /** `open`: the rest decides. `met`: the policy is satisfied. `lost`: it cannot be any more. */
  state: 'open' | 'met' | 'lost';
  /** Ids that may land, in the order of `outcomes`. */
  land: string[];
  /** Ids that are stopped and kept, because others have won. */
  stop: string[];
}

/** `all`, `best-effort`, `quorum:2` or `first`; null for anything else. */
export function parseFanInPolicy(text: string): FanInPolicy | null {
  if (text === 'all' || text === 'best-effort' || text === 'first') return { kind: text };
  const least = /^quorum:([1-9]\d{0,5})$/.exec(text)?.[1];
  return least === undefined ? null : { kind: 'quorum', least: Number(least) };
}

export function judgeFanIn(policy: FanInPolicy, outcomes: ReadonlyMap<string, TaskOutcome>): FanInVerdict {
  const having = (outcome: TaskOutcome): string[] =>
    [...outcomes].filter(([, one]) => one === outcome).map(([id]) => id);
  const [passed, pending, failed] = [having('passed'), having('pending'), having('failed')];
  switch (policy.kind) {
    case 'all': {
      if (failed.length > 0) return { state: 'lost', land: [], stop: [] };
      const met = pending.length === 0;
      return { state: met ? 'met' : 'open', land: met ? passed : [], stop: [] };
    }
    case 'best-effort': {
      const state = pending.length > 0 ? 'open' : passed.length > 0 || failed.length === 0 ? 'met' : 'lost';
      return { state, land: passed, stop: [] };
    }
    case 'quorum': {
      if (passed.length >= policy.least) return { state: 'met', land: passed, stop: [] };
      const lost = passed.length + pending.length < policy.least;
      return { state: lost ? 'lost' : 'open', land: [], stop: [] };
    }
    case 'first': {
      const [winner] = passed;
      if (winner !== undefined) return { state: 'met', land: [winner], stop: pending };
      return { state: pending.length === 0 && failed.length > 0 ? 'lost' : 'open', land: [], stop: [] };
    }
  }
}
