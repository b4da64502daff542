/** Three-way merges of texts of memory. */
import { diff3Merge } from 'node-diff3';
import type { ChangedFile } from './memory-history.ts';

/** A three-way merge; `mine` wins where both have changed, and `kept` counts its lines there. */
export function mergedTexts(sides: { mine: string; base: string; theirs: string }): {
  text: string;
  kept: number;
} {
  const [mine = [], base = [], theirs = []] = [sides.mine, sides.base, sides.theirs].map((text) =>
    text.split('\n'),
  );
  let kept = 0;
  const lines = diff3Merge(mine, base, theirs, { excludeFalseConflicts: true }).flatMap(
    ({ ok, conflict }) => {
      kept += conflict?.a.length ?? 0;
      return ok ?? conflict?.a ?? [];
    },
  );
  return { text: lines.join('\n'), kept };
}

/** What was changed since wins. */
export function takenBack(
  { before, after }: ChangedFile,
  now: string | null,
): { text: string | null; kept: number } {
  if (now === after) return { text: before, kept: 0 };
  if (now === null) return { text: null, kept: 0 };
  return mergedTexts({ mine: now, base: after ?? '', theirs: before ?? '' });
}
