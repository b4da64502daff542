/** One thing that Ramet keeps for a repository. */

import type { WorktreeSettings } from '../../git/worktrees/worktree-settings.ts';
import type { Place } from '../place.ts';
import type { SessionHolding } from './session-holdings.ts';

export type HoldingKind =
  | 'session'
  | 'leftovers'
  | 'empty output'
  | 'check log'
  | 'wip ref'
  | 'attempt ref'
  | 'kept folder'
  | 'python cache'
  | 'set aside'
  | 'worktree';

export const GONE_ALREADY: unique symbol = Symbol('gone already');

export interface Holding {
  kind: HoldingKind;
  name: string;
  usedAt: number;
  bytes: number;
  /** What a session's bytes are: journal, originals for undo, outputs. */
  parts: SessionHolding['bytes'] | null;
  /** Null when it may go. */
  keep: string | null;
  /** Kept for its age alone. */
  young: boolean;
  /** Removes it; returns why it could not, or that another process has. */
  remove(): Promise<string | null | typeof GONE_ALREADY>;
}

export interface HoldingOptions {
  place: Place;
  env: Readonly<Record<string, string>>;
  days: number;
  now: number;
  interrupted: boolean;
  /** Also work that nothing else has. */
  work: boolean;
  worktree: WorktreeSettings | undefined;
}
