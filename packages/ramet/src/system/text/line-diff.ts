/**
 * What changed between two texts, line by line: the fewest lines removed and added. Bounded: texts that differ in too
 * many lines are shown as removed and added between what they have in common at both ends.
 */
import { diffArrays } from 'diff';

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Time grows with its square: 600 take about 0.1 s, however long the texts are. */
const MOST_EDITS = 600;

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

function middle(old: string[], now: string[]): DiffLine[] {
  const changes = diffArrays(old, now, { maxEditLength: MOST_EDITS });
  if (changes === undefined) return [...lines('removed', old), ...lines('added', now)];
  return changes.flatMap(({ added, removed, value }) =>
    lines(added ? 'added' : removed ? 'removed' : 'same', value),
  );
}

function lines(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
