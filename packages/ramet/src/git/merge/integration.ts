/** The shapes of the outcome of one branch on one base. */

import type { QueueStrategy } from '../../schema/status.ts';
import type { CommitGraph } from './commit-graph.ts';
import type { BranchStory } from './merge-message.ts';
import type { MergeConflict } from './merge-output.ts';
/** What the next branch goes on top of. */
export interface IntegrationHead {
  commit: string;
  /** Null where nobody has looked yet: `treeOf` does. */
  tree: string | null;
}

export interface IntegrationWork {
  /** As messages show it. */
  branch: string;
  tip: string;
  /** With cherry-pick: that commit alone is meant, not all that its history adds. */
  isSingle: boolean;
  target: string;
  strategy: QueueStrategy;
  story: BranchStory;
  /** The commits of all branches that are merged with it, where they were read together. */
  graph?: CommitGraph | null | undefined;
}

/** What a resolver is given. */
export interface OpenConflict {
  branch: string;
  target: string;
  ours: string;
  theirs: string;
  /** The merged files, with conflict markers where git could not decide. */
  tree: string;
  conflicts: MergeConflict[];
  files: string[];
}

export type Integration =
  | { kind: 'made'; head: IntegrationHead }
  /** The base has it already, by id or by content, or it changes nothing. */
  | { kind: 'nothing'; reason: string }
  /** `merge` is null where the strategy leaves nothing that could be resolved as a whole. */
  | {
      kind: 'conflict';
      conflicts: MergeConflict[];
      files: string[];
      merge: OpenConflict | null;
      /** What a resolver says about its attempt, to follow the description of the conflict. */
      tried?: string | undefined;
    }
  | { kind: 'refused'; reason: string };

export function describeConflicts(conflicts: readonly MergeConflict[]): string {
  return conflicts.map(({ kind, paths }) => `${paths.join(', ') || '?'} (${kind})`).join('; ');
}
