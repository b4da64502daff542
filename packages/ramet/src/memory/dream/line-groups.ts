/** Which lines may say the same or contradict each other: only those are worth a model's look. */
import { setImmediate } from 'node:timers/promises';
import { likeness, type MemoryLine } from './memory-lines.ts';

/** Lines that share this much are shown together. */
export const LIKE = 0.5;
/** A word that more lines have tells nothing about them. */
const COMMON = 60;
const LARGEST_GROUP = 24;
const LINES_A_TURN = 100;

/** Equal lines, but for case, signs and date: of each set all but one. A person's line stays, then the newest. */
export function equalLines(lines: readonly MemoryLine[]): { line: MemoryLine; keep: MemoryLine }[] {
  const sets = Map.groupBy(
    lines.filter(({ same }) => same !== ''),
    ({ same, scope }) => `${scope}\n${same}`,
  );
  return [...sets.values()].flatMap((set) => {
    const [keep, ...others] = set.toSorted(byWorth);
    return keep === undefined ? [] : others.map((line) => ({ line, keep }));
  });
}

function byWorth(a: MemoryLine, b: MemoryLine): number {
  if (a.isPersons !== b.isPersons) return a.isPersons ? -1 : 1;
  return (b.date ?? '').localeCompare(a.date ?? '');
}

export async function similarLines(lines: readonly MemoryLine[]): Promise<MemoryLine[][]> {
  const byWord = new Map<string, MemoryLine[]>();
  for (const line of lines)
    for (const word of line.words) {
      const known = byWord.get(word);
      if (known === undefined) byWord.set(word, [line]);
      else known.push(line);
    }
  const leader = new Map(lines.map((line) => [line, line]));
  const find = (line: MemoryLine): MemoryLine => {
    const above = leader.get(line) ?? line;
    if (above === line) return line;
    const top = find(above);
    leader.set(line, top);
    return top;
  };
  for (const [index, line] of lines.entries()) {
    if (index % LINES_A_TURN === 0) await setImmediate();
    for (const other of candidates(line, byWord))
      if (likeness(line.words, other.words) >= LIKE) leader.set(find(line), find(other));
  }
  return [...Map.groupBy(lines, find).values()]
    .filter((group) => group.length > 1)
    .flatMap((group) => cut(group, LARGEST_GROUP));
}

function candidates(line: MemoryLine, byWord: ReadonlyMap<string, MemoryLine[]>): Set<MemoryLine> {
  const found = new Set<MemoryLine>();
  for (const word of line.words) {
    const lines = byWord.get(word) ?? [];
    if (lines.length <= COMMON)
      for (const other of lines) if (other !== line && other.scope === line.scope) found.add(other);
  }
  return found;
}

function cut<Item>(list: readonly Item[], most: number): Item[][] {
  return Array.from({ length: Math.ceil(list.length / most) }, (_, n) =>
    list.slice(n * most, (n + 1) * most),
  );
}
