/**
 * What changed between two texts, line by line: the fewest lines removed and added. Bounded: texts that differ in too
 * many lines are shown as removed and added between what they have in common at both ends.
 */
import { type ChangeObject, diffArrays, diffWordsWithSpace } from 'diff';

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

export interface NumberedLine extends DiffLine {
  /** Its number in the text before if it is removed, else in the text after. */
  readonly number: number;
}

export function numberedLines(diff: readonly DiffLine[]): NumberedLine[] {
  const next = { old: 1, now: 1 };
  return diff.map((line) => {
    const number = line.kind === 'removed' ? next.old : next.now;
    if (line.kind !== 'added') next.old += 1;
    if (line.kind !== 'removed') next.now += 1;
    return { ...line, number };
  });
}

/** The changed lines with a few of their neighbours; what is left out between them is null. */
export function changedLines<Line extends DiffLine>(diff: readonly Line[], context = 1): (Line | null)[] {
  const near = (index: number): boolean =>
    diff.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same');
  const kept: (Line | null)[] = [];
  diff.forEach((line, index) => {
    if (near(index)) kept.push(line);
    else if (kept.length > 0 && kept.at(-1) !== null) kept.push(null);
  });
  if (kept.at(-1) === null) kept.pop();
  return kept;
}

export interface WordPart {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Longer lines are not compared by their words. */
const LONGEST_LINE = 1_000;
const MOST_WORDS = 100;

/** Which words of two lines differ; null when they have too little in common, or are too long. */
export function changedWords(
  before: string,
  after: string,
): { readonly removed: readonly WordPart[]; readonly added: readonly WordPart[] } | null {
  if (Math.max(before.length, after.length) > LONGEST_LINE) return null;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_WORDS });
  if (changes === undefined) return null;
  const kept = changes.filter(({ added, removed }) => !added && !removed).map(({ value }) => value.trim());
  if (kept.join('').length * 3 < Math.max(before.trim().length, after.trim().length)) return null;
  const side = (isOther: (change: ChangeObject<string>) => boolean): WordPart[] =>
    changes
      .filter((change) => !isOther(change))
      .map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }));
  return { removed: side(({ added }) => added), added: side(({ removed }) => removed) };
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
