/** What one side of a merge does to the lines of the other, and where they stand for it; nothing about headings. */
import { diffIndices } from 'node-diff3';
import { type HeadedLine, isBlank, isOfUser, type LinedText } from './headed-lines.ts';

export interface MergeSides {
  readonly mine: LinedText;
  readonly base: LinedText;
  readonly theirs: LinedText;
  /** Where each line of the base is in the others; -1 if it is not. */
  readonly inMine: readonly number[];
  readonly inTheirs: readonly number[];
}

export interface MergePlan {
  /** Lines of mine that theirs removed, and nobody has changed. */
  readonly going: ReadonlySet<number>;
  /** Lines that only theirs has, by the line of the base that they come before. */
  readonly coming: ReadonlyMap<number, readonly number[]>;
  /** The same for lines that the base has not there and mine has. */
  readonly own: ReadonlyMap<number, readonly number[]>;
  /** Lines that stay, because they were changed on both sides. */
  readonly kept: number;
}

/** Comparing takes a step for each pair of lines, and memory for each pair of equal ones: this is a second. */
const MOST_PAIRS = 200_000_000;
const MOST_EQUAL = 1_000_000;

/** Where each line of `base` is in `lines`, in order; null if there are too many to compare. */
export function indexesIn(lines: readonly HeadedLine[], base: readonly HeadedLine[]): number[] | null {
  return sameIndexes(keysOf(base), keysOf(lines)) ?? sameIndexes(keysOf(base, true), keysOf(lines, true));
}

/** Blank lines may be many: those below equal lines are equal. */
function keysOf(lines: readonly HeadedLine[], tellsBlank = false): string[] {
  return lines.map((line, index) =>
    tellsBlank && isBlank(line) ? `\n${lines[index - 1]?.key ?? ''}` : line.key,
  );
}

function sameIndexes(old: readonly string[], now: readonly string[]): number[] | null {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const shortest = Math.min(old.length, now.length) - start;
  while (end < shortest && old.at(-1 - end) === now.at(-1 - end)) end++;
  const oldMiddle = old.slice(start, old.length - end);
  const nowMiddle = now.slice(start, now.length - end);
  if (oldMiddle.length * nowMiddle.length > MOST_PAIRS) return null;
  if (equalPairs(oldMiddle, nowMiddle) > MOST_EQUAL) return null;
  const found: number[] = [];
  let next = 0;
  const sameUntil = (index: number): void => {
    while (found.length < index) found.push(next++);
  };
  for (const { buffer1, buffer2 } of diffIndices(oldMiddle, nowMiddle)) {
    sameUntil(start + buffer1[0]);
    for (let count = 0; count < buffer1[1]; count++) found.push(-1);
    next += buffer2[1];
  }
  sameUntil(old.length);
  return found;
}

/** How many lines of one text equal one of the other, each with each. */
export function equalPairs(one: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of one) counts.set(line, (counts.get(line) ?? 0) + 1);
  return other.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}

export function mergePlan(sides: MergeSides): MergePlan {
  const { mine, base, theirs, inMine } = sides;
  const own = ownLines(sides);
  const all = [...own.values()].flat();
  const { going, untouched, adopted } = linesThatGo(sides, all);
  const moved = movedLines(sides, untouched);
  const known = new Set(all.filter((index) => !going.has(index)).map((index) => spotOf(mine, index)));
  const coming = new Map<number, number[]>();
  let kept = adopted;
  for (const { first, removed, added } of replacements(sides)) {
    const instead = range(first, first + removed.length + 1)
      .flatMap((place) => own.get(place) ?? [])
      .filter((line) => !going.has(line) && !isBlankAt(mine, line));
    const isFree = freedom(sides, { removed, added }, (line) => untouched.has(line) || instead.length === 0);
    for (const [at, line] of added.entries()) {
      // It may be there already, by another hand.
      if (!(moved.get(theirs.lines[line]?.key) ?? isFree(line)) || known.has(spotOf(theirs, line))) continue;
      const place = removed[added.length === removed.length ? at : 0] ?? first;
      coming.set(place, [...(coming.get(place) ?? []), line]);
    }
    const isChanged = (old: number): boolean =>
      inMine[old] === -1 && !untouched.has(old) && !isBlankAt(base, old);
    kept += Math.min(removed.filter(isChanged).length, instead.length);
  }
  return { going, coming, own, kept };
}

/** Lines of theirs in the place of lines of the base. */
interface Replacement {
  /** Where the lines of the base are, or would be. */
  readonly first: number;
  readonly removed: readonly number[];
  readonly added: readonly number[];
}

function replacements({ base, theirs, inTheirs }: MergeSides): Replacement[] {
  const found: Replacement[] = [];
  let next = 0;
  for (let index = 0; index <= base.lines.length; index++) {
    const first = index;
    while (inTheirs[index] === -1) index++;
    const end = inTheirs[index] ?? theirs.lines.length;
    if (index > first || end > next)
      found.push({ first, removed: range(first, index), added: range(next, end) });
    next = end + 1;
  }
  return found;
}

/** Which lines of theirs may come: where line stands for line, those that stand for one that makes way; else all of them. */
function freedom(
  { base, theirs }: MergeSides,
  { removed, added }: Pick<Replacement, 'removed' | 'added'>,
  makesWay: (line: number) => boolean,
): (line: number) => boolean {
  const old = removed.filter((line) => !isBlankAt(base, line));
  const now = added.filter((line) => !isBlankAt(theirs, line));
  if (old.length !== now.length) return () => true;
  const pairs = new Map(now.map((line, at) => [line, makesWay(old[at] ?? -1)]));
  return (line) => pairs.get(line) ?? true;
}

/** Lines that theirs only put elsewhere: whether they are still in mine. Else they went by another hand, and stay away. */
function movedLines(
  { base, inTheirs }: MergeSides,
  untouched: ReadonlySet<number>,
): ReadonlyMap<string | undefined, boolean> {
  const moved = new Map<string, boolean>();
  base.lines.forEach((line, old) => {
    if (inTheirs[old] === -1 && !isBlank(line))
      moved.set(line.key, untouched.has(old) || moved.get(line.key) === true);
  });
  return moved;
}

/** Lines of mine that are not matched, by the line of the base that they stand before. */
function ownLines({ mine, inMine }: MergeSides): Map<number, number[]> {
  const baseOf = new Map(inMine.map((index, old) => [index, old]));
  const own = new Map<number, number[]>();
  let place = 0;
  mine.lines.forEach((_, index) => {
    const old = baseOf.get(index);
    if (old === undefined) own.set(place, [...(own.get(place) ?? []), index]);
    else place = old + 1;
  });
  return own;
}

/** Also those that were moved. A line that the user has put under their notes is theirs now. */
function linesThatGo(
  { mine, base, inMine, inTheirs }: MergeSides,
  own: readonly number[],
): { going: Set<number>; untouched: Set<number>; adopted: number } {
  const moved = Map.groupBy(own, (index) => mine.lines[index]?.key);
  const going = new Set<number>();
  const untouched = new Set<number>();
  let adopted = 0;
  base.lines.forEach((line, old) => {
    if (inTheirs[old] !== -1) return;
    const direct = inMine[old] ?? -1;
    const index = direct === -1 && !isBlank(line) ? (moved.get(line.key)?.shift() ?? -1) : direct;
    const [is, was] = [mine.standings[index], base.standings[old]];
    if (is === undefined || was === undefined) return;
    if (line.level === 0 && isOfUser(is) && !isOfUser(was)) adopted += 1;
    else {
      going.add(index);
      untouched.add(old);
    }
  });
  return { going, untouched, adopted };
}

/** A line and where it stands; null for a blank one. */
function spotOf({ lines, standings }: LinedText, index: number): string | null {
  return isBlankAt({ lines }, index) ? null : `${standings[index]?.path}\n${lines[index]?.key}`;
}

function isBlankAt({ lines }: Pick<LinedText, 'lines'>, index: number): boolean {
  const line = lines[index];
  return line === undefined || isBlank(line);
}

function range(from: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index);
}
