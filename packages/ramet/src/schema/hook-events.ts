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
