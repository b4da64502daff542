/** What the merge queue is asked for, what it needs from outside, and what it answers. */

import type { Clock } from '../../schema/clock.ts';
import type { ConflictPolicy, QueueStrategy } from '../../schema/status.ts';
import type { CheckSlots } from '../../system/check-slots.ts';
import type { Provenance } from '../provenance/trailers.ts';
import type { DiskRoom } from './full-disk.ts';
import type { OpenConflict } from './integration.ts';
import type { MergeEntries, MergeEntry } from './merge-entries.ts';
import type { BranchStory } from './merge-message.ts';
import type { MergeRepository } from './merge-repository.ts';
import type { BegunCheck, CheckCommand, CheckOutcome, CommandRunner } from './run-check.ts';

export interface MergeWishes {
  check: CheckCommand | null;
  onConflict: ConflictPolicy;
  updateCheckout: boolean;
}

export interface MergeRequest extends MergeWishes {
  /** A local branch, without `refs/heads/`, or the full name of a private ref. */
  target: string;
  /** What messages call it; its own name when absent. */
  targetName?: string | undefined;
  /** Branches or commits to enter; what waits already is merged too. */
  branches: readonly string[];
  strategy: QueueStrategy;
}

/** The moments between which a process may die; each leaves a state from which the next run continues. */
export const MERGE_STEPS = [
  'entered',
  'integrated',
  'held',
  'checked',
  'recorded',
  'moved',
  'noted',
] as const;
export type MergeStep = (typeof MERGE_STEPS)[number];

/** What a resolver returns: a tree without the conflict, proved by the resolver, or why it has no tree. */
export type ConflictResolution =
  | { tree: string; by: Provenance }
  /** One line, without the end of a sentence; null where nobody tried. */
  | { tree: null; tried: string | null };

export interface MergePorts {
  repository: MergeRepository;
  /** The directory that Ramet keeps for the repository. */
  project: string;
  entries: MergeEntries;
  clock: Clock;
  /** The commit that is meant by a name of this request, wherever the branch is by now; undefined: where it is. */
  tipOf?(branch: string): string | undefined;
  /** What is known of the work on a branch. */
  storyOf?(branch: string): BranchStory;
  resolveConflict?(conflict: OpenConflict): Promise<ConflictResolution>;
  /** Brings packages into the working tree of a check; returns what it lacks, one sentence each. */
  prepareCheck?(worktree: string, run: CommandRunner): Promise<string[]>;
  /** Where the working tree of a check is; in `project` when absent. */
  checkTrees?: string | undefined;
  /** How this very check ended on trees, by tree: those are not checked again, and new ones are added. */
  outcomes?: Map<string, CheckOutcome> | undefined;
  /** The places that checks of this machine share; without, none is waited for. */
  slots?: CheckSlots | undefined;
  /** A check waits for a place, while this many run on this machine. */
  onCheckWaits?(running: number): void;
  onCheck?(begun: BegunCheck): void;
  /** What is free on a disk; the system is asked when absent. */
  diskRoom?: DiskRoom | undefined;
  /** The target has moved meanwhile: everything is computed and checked again, as the try of that number. */
  onMissed?(next: number, most: number): void;
  onStep?(step: MergeStep): void | Promise<void>;
  /** False: entries come without what to do about them, since the caller has another way. */
  isAdvised?: boolean;
}

export interface MergeReport {
  target: string;
  /** The target's commit before and now. */
  before: string;
  after: string;
  /** Set where the result waits on the private ref; `take` says with which commands it is had, each on a line that begins with two spaces. */
  kept: { ref: string; commit: string; reason: string; take: string } | null;
  /** The checkout whose files went along. */
  checkout: string | null;
  /** Everything this run has decided on, in the order of the queue. */
  entries: MergeEntry[];
}
