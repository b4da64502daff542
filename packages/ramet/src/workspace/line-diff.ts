/**
 * What changed between two texts, line by line: the longest common subsequence, between what the two have in
 * common at both ends. Bounded: texts that differ in too many lines are shown as removed and added.
 */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Rows times columns of the table below: about 2 MB. */
const LARGEST_TABLE = 1_000_000;

export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const shortest = Math.min(old.length, now.length) - start;
  while (end < shortest && old.at(-1 - end) === now.at(-1 - end)) end++;
  return [
    ...lines('same', old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...lines('same', old.slice(old.length - end)),
  ];
}

/** The changed lines with a few of their neighbours; what is left out between them is null. */
export function changedLines(diff: readonly DiffLine[], context = 1): (DiffLine | null)[] {
  const near = (index: number): boolean =>
    diff.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same');
  const kept: (DiffLine | null)[] = [];
  diff.forEach((line, index) => {
    if (near(index)) kept.push(line);
    else if (kept.length > 0 && kept.at(-1) !== null) kept.push(null);
  });
  if (kept.at(-1) === null) kept.pop();
  return kept;
}

function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length > LARGEST_TABLE) return [...lines('removed', old), ...lines('added', now)];
  const lengths = commonLengths(old, now);
  const width = now.length + 1;
  const diff: DiffLine[] = [];
  for (let row = 0, column = 0; row < old.length || column < now.length; ) {
    const [removed, added] = [old[row], now[column]];
    const below = lengths[(row + 1) * width + column] ?? 0;
    const right = lengths[row * width + column + 1] ?? 0;
    if (removed !== undefined && removed === added) {
      diff.push({ kind: 'same', text: removed });
      row++;
      column++;
    } else if (removed !== undefined && (added === undefined || below >= right)) {
      diff.push({ kind: 'removed', text: removed });
      row++;
    } else {
      diff.push({ kind: 'added', text: added ?? '' });
      column++;
    }
  }
  return diff;
}

/** At [row, column]: how many lines the two have in common, in order, from there to the end. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint16Array {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      const at = row * width + column;
      lengths[at] =
        old[row] === now[column]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  return lengths;
}

function lines(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
