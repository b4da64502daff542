/** What hooks decided about a call: kept, so that they are not asked again when the call is made after a restart. */
export interface HookVerdict {
  decision?: 'allow' | 'ask' | 'deny';
  reason?: string;
  /** The whole input of the call, instead of its own. */
  updatedInput?: Record<string, unknown>;
  /** Told to the model with the result. */
  contexts?: string[];
  /** The run ends after the call; why. */
  stop?: string;
}

/** How one hook ended. */
export interface RecordedHook {
  /** Its command. */
  hook: string;
  /** Where it is set up. */
  source: string;
  /** `started`: nobody waits for it. */
  outcome: 'ok' | 'blocked' | 'failed' | 'started';
  durationMs: number;
  /** How it failed. */
  problem?: string;
}

/** The hooks of an event have run. */
export interface HooksRan {
  type: 'hooks.ran';
  event: string;
  /** The call that they were about. */
  call?: string;
  runs: RecordedHook[];
  /** Of hooks before a call. */
  verdict?: HookVerdict;
}

/** A hook that checks calls, as the session first saw it. What continues the session reads it. */
export interface NotedGuard {
  /** Digest of the event and the command. */
  key: string;
  /** What it needs to start, by digests of names: what could be done with each. */
  files: Record<string, number>;
  /** Everything was there, also the programs that it calls by their names. */
  isWhole: boolean;
  /** It has answered a call. */
  hasEndedWell?: true;
}

/** Of hooks that the session had not seen before, or that ended well for the first time. */
export interface GuardsNoted {
  type: 'guards.noted';
  guards: NotedGuard[];
}
