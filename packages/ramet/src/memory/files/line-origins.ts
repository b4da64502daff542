/** Where each line of a file of memory came from: the changes of its history, compared one after the other. */
import { type DiffLine, lineDiff } from '../../system/text/line-diff.ts';
import type { MemoryChange } from './memory-history.ts';

export interface LineOrigin {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Null for a line that a person wrote and that no change has met yet. */
  readonly change: MemoryChange | null;
}

type Owned = Omit<LineOrigin, 'number'>;

/** `changes` are those of the file, the oldest first; `now` is its text. */
export function lineOrigins(changes: readonly MemoryChange[], now: string): LineOrigin[] {
  let owned: Owned[] = [];
  let text = '';
  const earlier = new Map<number, readonly Owned[]>();
  for (const change of changes) {
    earlier.set(change.id, owned);
    const after = change.files[0]?.after ?? '';
    const former = change.undoes === null ? [] : (earlier.get(change.undoes) ?? []);
    owned = step(owned, text, after, (line) => former.find((one) => one.text === line)?.change ?? change);
    text = after;
  }
  return step(owned, text, now, () => null).map((line, index) => ({ ...line, number: index + 1 }));
}

function step(
  owned: readonly Owned[],
  before: string,
  after: string,
  ownerOf: (line: string) => MemoryChange | null,
): Owned[] {
  let next = 0;
  const diff = lineDiff(before, after);
  const moved = movedLines(owned, diff);
  return diff.flatMap(({ kind, text }): Owned[] => {
    if (kind === 'added') return [moved.get(text)?.pop() ?? { text, change: ownerOf(text) }];
    const old = owned[next++];
    return kind === 'removed' || old === undefined ? [] : [old];
  });
}

/** Lines that a change only put elsewhere keep where they came from; a comparison of long texts shows such for all of them. */
function movedLines(owned: readonly Owned[], diff: readonly DiffLine[]): Map<string, Owned[]> {
  const moved = new Map<string, Owned[]>();
  let next = 0;
  for (const { kind, text } of diff) {
    if (kind === 'added') continue;
    const old = owned[next++];
    if (kind === 'removed' && old !== undefined && text.trim() !== '')
      moved.set(text, [...(moved.get(text) ?? []), old]);
  }
  return moved;
}
