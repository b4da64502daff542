/** The four things that a fork may have otherwise than its parent (FORK-3): one more, and it reads another cache. */
import { UserMistake } from '../../schema/errors.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import type { CanUseTool } from '../agent/runtime.ts';

export interface ForkOverrides {
  /** Ends the fork when it aborts; the parent's own abort does so in any case. */
  abortController?: AbortController | undefined;
  /** Keeps it out of what can be continued, never out of the journal. */
  skipTranscript?: boolean | undefined;
  /** Its requests write nothing to the cache that only they would read. */
  skipCacheWrite?: boolean | undefined;
  /** Narrows what it may do; it cannot widen it. */
  canUseTool?: CanUseTool | undefined;
}

const ALLOWED: ReadonlySet<string> = new Set([
  'abortController',
  'skipTranscript',
  'skipCacheWrite',
  'canUseTool',
] satisfies (keyof ForkOverrides)[]);

/** Callers without types are told at run time. */
export function refuseOtherOverrides(overrides: ForkOverrides): void {
  const other = Object.keys(overrides).filter((key) => !ALLOWED.has(key));
  if (other.length === 0) return;
  throw new UserMistake(
    'fork_override',
    `a fork cannot change ${other.join(', ')}: it would no longer read its parent's cache; it may set ${[...ALLOWED].join(', ')}, or use an agent type instead`,
  );
}

/** Model and thinking are parts of the prefix that a fork shares. */
export function refuseForkChoices({ model, effort }: Pick<SpawnRequest, 'model' | 'effort'>): void {
  if (model !== undefined) {
    throw new UserMistake(
      'fork_model',
      "a fork runs on its parent's model, whose cache it shares: leave model out, or name a subagent_type",
    );
  }
  if (effort !== undefined) {
    throw new UserMistake(
      'fork_effort',
      'a fork thinks as its parent does, whose cache it shares: leave effort out, or name a subagent_type',
    );
  }
}
