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
      const settled = ok ?? (conflict && bothSides(conflict));
      if (settled) return settled;
      kept += conflict?.a.length ?? 0;
      return conflict?.a ?? [];
    },
  );
  return { text: lines.join('\n'), kept };
}

/**
 * Lines that one side only added, beside some that the other only removed, are no conflict; null for any other. Headings stay:
 * what was written below them later must not come under another one.
 */
function bothSides({ a, o, b }: { a: string[]; o: string[]; b: string[] }): string[] | null {
  const inMine = placesIn(a, o);
  const inBase = placesIn(o, b);
  if (inMine === null || inBase === null) return null;
  const gone = inMine.filter((_, index) => !inBase.includes(index));
  const removed = new Set(gone.filter((place) => a[place]?.startsWith('- ')));
  return removed.size === 0 ? null : a.filter((_, index) => !removed.has(index));
}

/** Where these lines are in `all`, in their order; null if one is missing. The last that fit: a text ends with an empty line. */
function placesIn(all: readonly string[], lines: readonly string[]): number[] | null {
  const places: number[] = [];
  let before = all.length;
  for (const line of lines.toReversed()) {
    before = before === 0 ? -1 : all.lastIndexOf(line, before - 1);
    if (before === -1) return null;
    places.unshift(before);
  }
  return places;
}

/** What was changed since wins. */
export function takenBack(
  { before, after }: ChangedFile,
  now: string | null,
): { text: string | null; kept: number } {
  if (now === after) return { text: before, kept: 0 };
  if (now === null) return { text: null, kept: 0 };
  if (!before) {
    const rest = bothSides({ a: now.split('\n'), o: (after ?? '').split('\n'), b: [''] });
    if (rest !== null) return { text: rest.join('\n'), kept: 0 };
  }
  return mergedTexts({ mine: now, base: after ?? '', theirs: before ?? '' });
}
