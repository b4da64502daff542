/**
 * Three-way merges of texts of memory, line by line: what one side changed is done to the other.
 *
 * Invariants
 * 1. Every line that was written in `mine` is in the result, under the headings that it has there.
 * 2. A line that `theirs` removed goes, unless it was changed, or put under the notes of the user. A heading stays while a
 *    line needs it.
 * 3. A line that `theirs` added stands under its own headings; they come with it where they are missing.
 */
import {
  type HeadedLine,
  isBlank,
  isLike,
  type LinedText,
  linedText,
  MARK,
  pathBelow,
  standingsOf,
} from './headed-lines.ts';
import type { ChangedFile } from './memory-history.ts';
import { indexesIn, type MergePlan, type MergeSides, mergePlan } from './merge-plan.ts';

/** A line of the result, with its index in `mine` and `theirs`; -1 if it is not from there. */
interface Item extends HeadedLine {
  readonly mine: number;
  readonly theirs: number;
}

/** `mine` wins where both have changed; `kept` counts its lines that stay although `theirs` changed them. */
export function mergedTexts(texts: { mine: string; base: string; theirs: string }): {
  text: string;
  kept: number;
} {
  if (texts.theirs === texts.base || texts.theirs === texts.mine) return { text: texts.mine, kept: 0 };
  if (texts.mine === texts.base) return { text: texts.theirs, kept: 0 };
  const [mine, base, theirs] = [linedText(texts.mine), linedText(texts.base), linedText(texts.theirs)];
  const inMine = indexesIn(mine.lines, base.lines);
  const inTheirs = indexesIn(theirs.lines, base.lines);
  if (inMine === null || inTheirs === null) return { text: texts.mine, kept: mine.lines.length };
  const sides = { mine, base, theirs, inMine, inTheirs };
  const plan = mergePlan(sides);
  const { items, stay } = settledItems(sides, plan);
  return { text: textOf(sides, items), kept: plan.kept + stay };
}

/** What was changed since wins. */
export function takenBack(
  { before, after }: ChangedFile,
  now: string | null,
): { text: string | null; kept: number } {
  if (now === after) return { text: before, kept: 0 };
  const { text, kept } = mergedTexts({ mine: now ?? '', base: after ?? '', theirs: before ?? '' });
  // A file goes with its last line if the change has made it; one that is gone comes back with a line only.
  const isThere = text.trim() !== '' || (now === null ? false : before !== null || now.trim() === '');
  return { text: isThere ? text : null, kept };
}

/** What headings make of a plan. */
interface Settlement {
  /** Lines of mine that stay although theirs removed them: a line needs that heading. */
  readonly stay: Set<number>;
  /** Lines of theirs that cannot come where they were: they or others would stand under a wrong heading. */
  readonly away: Set<number>;
}

/** A text whose headings need more rounds keeps all of them. */
const MOST_ROUNDS = 30;

function settledItems(sides: MergeSides, plan: MergePlan): { items: Item[]; stay: number } {
  const { mine, theirs } = sides;
  const settlement: Settlement = { stay: new Set(), away: new Set() };
  for (let round = 0; settleMore(sides, plan, settlement); round++)
    if (round === MOST_ROUNDS) {
      for (const index of plan.going) if (mine.lines[index]?.level) settlement.stay.add(index);
      for (const index of [...plan.coming.values()].flat()) settlement.away.add(index);
    }
  const items = itemsOf(sides, plan, settlement);
  const away = [...settlement.away].sort((a, b) => a - b);
  putElsewhere(theirs, items, away);
  const isMissing = (index: number): boolean => {
    const [line, standing] = [theirs.lines[index], theirs.standings[index]];
    if (line === undefined || line.level === 0 || standing === undefined) return false;
    return endOfSection(items, pathBelow(standing, line)) === -1;
  };
  const stays = [...settlement.stay].filter((index) => (mine.lines[index]?.level ?? 0) > 0).length;
  return { items, stay: Math.max(stays, away.filter(isMissing).length) };
}

/** False if each line stands where it may. */
function settleMore(sides: MergeSides, plan: MergePlan, { stay, away }: Settlement): boolean {
  const { mine, theirs } = sides;
  const items = itemsOf(sides, plan, { stay, away });
  const before = stay.size + away.size;
  for (const [at, { path, headings }] of standingsOf(items).entries()) {
    const item = items[at];
    if (item === undefined || isBlank(item)) continue;
    const [own, other] = [mine.standings[item.mine], theirs.standings[item.theirs]];
    if (path === own?.path || path === other?.path) continue;
    if (own === undefined) {
      if (other === undefined || !isLike({ path }, other)) away.add(item.theirs);
      continue;
    }
    for (const index of own.headings) if (plan.going.has(index)) keepHeading(mine, plan, stay, index);
    for (const heading of headings) {
      const { mine: from = -1, theirs: line = -1 } = items[heading] ?? {};
      if (from === -1) away.add(line);
    }
  }
  return stay.size + away.size > before;
}

/** With the blank lines around it. */
function keepHeading({ lines }: LinedText, { going }: MergePlan, stay: Set<number>, index: number): void {
  const isFree = (line: HeadedLine | undefined): boolean => line !== undefined && isBlank(line);
  for (const at of [index - 1, index, index + 1])
    if (going.has(at) && (at === index || isFree(lines[at]))) stay.add(at);
}

function itemsOf(sides: MergeSides, { going, coming, own }: MergePlan, { stay, away }: Settlement): Item[] {
  const { mine, base, theirs, inMine, inTheirs } = sides;
  const ofMine = (index: number): Item[] => {
    const line = mine.lines[index];
    return line === undefined || (going.has(index) && !stay.has(index))
      ? []
      : [{ ...line, mine: index, theirs: -1 }];
  };
  const ofTheirs = (index: number): Item[] => {
    const line = theirs.lines[index];
    return line === undefined || away.has(index) ? [] : [{ ...line, mine: -1, theirs: index }];
  };
  const items: Item[] = [];
  for (let place = 0; place <= base.lines.length; place++) {
    const [lines, section] = atHeading((coming.get(place) ?? []).flatMap(ofTheirs));
    const [ownLines, ownSection] = atHeading((own.get(place) ?? []).flatMap(ofMine));
    // No line of one side comes under a heading of the other.
    items.push(...lines, ...ownLines, ...section, ...ownSection);
    const index = inMine[place] ?? -1;
    const line = mine.lines[index];
    const other = theirs.lines[inTheirs[place] ?? -1];
    if (line === undefined || other === undefined) items.push(...ofMine(index));
    else {
      const { text } = line.text === base.lines[place]?.text ? other : line;
      items.push({ ...line, text, mine: index, theirs: inTheirs[place] ?? -1 });
    }
  }
  return items;
}

/** Cut before the first heading, and the blank lines above that. */
function atHeading(items: readonly Item[]): [Item[], Item[]] {
  const first = items.findIndex(({ level }) => level > 0);
  if (first === -1) return [[...items], []];
  const end = items.findLastIndex((item, index) => index < first && !isBlank(item)) + 1;
  return [items.slice(0, end), items.slice(end)];
}

/** At the end of the section that they were in, or with its headings where no other line comes under those. */
function putElsewhere({ lines, standings }: LinedText, items: Item[], away: readonly number[]): void {
  const itemOf = (index: number): Item[] => {
    const line = lines[index];
    return line === undefined ? [] : [{ ...line, mine: -1, theirs: index }];
  };
  const missing = away.filter((index) => lines[index]?.level === 0 && !isBlank(lines[index]));
  for (const [path, group] of Map.groupBy(missing, (index) => standings[index]?.path ?? '')) {
    const at = endOfSection(items, path);
    if (at !== -1) items.splice(at, 0, ...group.flatMap(itemOf));
    else {
      const headings = (standings[group[0] ?? -1]?.headings ?? []).flatMap(itemOf);
      const outer = items.findIndex(({ level }) => level > 0 && level < (headings[0]?.level ?? 0));
      items.splice(outer === -1 ? items.length : outer, 0, ...headings, ...group.flatMap(itemOf));
    }
  }
}

/** After its last line that is not blank; -1 for one that is not there. */
function endOfSection(items: readonly Item[], path: string): number {
  const standings = standingsOf(items);
  const last = items.findLastIndex((item, index) => {
    const standing = standings[index];
    if (standing === undefined || isBlank(item)) return false;
    const below = item.level > 0 ? pathBelow(standing, item) : standing.path;
    return isLike({ path: below }, { path });
  });
  return last === -1 && path !== '' ? -1 : last + 1;
}

function textOf({ mine, base, theirs }: MergeSides, items: readonly Item[]): string {
  const settle = <Value>(ours: Value, old: Value, other: Value): Value => (ours === old ? other : ours);
  const mark = settle(mine.hasMark, base.hasMark, theirs.hasMark) ? MARK : '';
  const last = items.at(-1);
  if (last === undefined) return mark;
  const isOwn = last.theirs === -1;
  const hasEnd = isOwn ? mine.hasEnd : settle(mine.hasEnd, base.hasEnd, theirs.hasEnd ?? mine.hasEnd);
  return mark + items.map(({ text }) => text).join('\n') + (hasEnd === false ? '' : '\n');
}
