/**
 * What may not happen to memory: that words of an agent come to stand where the user's own do, for any reader.
 *
 * Invariants
 * 1. No line joins the section of the user in any reading, but the words that the user has said.
 * 2. Where an agent writes, the lines there keep their order and their headings; where readers do not agree which these lines are, none of them
 *    changes.
 * 3. An agent writes no HTML beside them: it could hide a heading, or move a line.
 * 4. An agent leaves no text behind that is too dense to be parsed: nobody knows what its readers see.
 */
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import type { ChangedFile } from './memory-history.ts';
import { withNote, withNoteAtEnd } from './memory-index.ts';
import { type ReadNotes, readNotes } from './user-notes.ts';

type Texts = Pick<ChangedFile, 'before' | 'after'>;

interface ForgeryOptions {
  /** A text in which the user's words stand under their heading: these may come. */
  readonly words?: string | null;
  /** A person makes the change, and may do more. */
  readonly byPerson?: boolean;
}

type Forgery = 'forged' | 'unclear' | 'html' | 'unread';

/** Throws a mistake. Lines of the user may go. */
export function refuseForgedNotes(root: string, file: ChangedFile, options: ForgeryOptions = {}): void {
  const forgery = forgeryIn(file, options);
  if (forgery === null) return;
  const reason = options.byPerson ? FOR_PERSONS : REASONS[forgery];
  throw new UserMistake('memory_of_user', `not saved to ${join(root, file.path)}: ${reason}`);
}

const FOR_PERSONS =
  'lines of agents would come to stand under "Notes of the user"; edit the file yourself, with a plain heading such as "## Facts" where these notes end';

const REASONS: Readonly<Record<Forgery, string>> = {
  forged:
    'only the user puts a line under "Notes of the user", or writes that heading; put it under a plain heading such as "## Facts", or tell the user that # at the prompt saves a note',
  unclear:
    'it is not clear there where "Notes of the user" ends, so agents change nothing in it; ask the user to put a plain heading such as "## Facts" behind their notes, and no HTML or unfinished code among them',
  unread:
    'a paragraph of it has too many brackets to be read as Markdown; write it in plain words, with a blank line between paragraphs',
  html: 'agents write no HTML into a file that has "Notes of the user"; put what looks like a tag into backticks, or leave it out',
};

/** Null for a change that leaves the user's words alone. */
export function forgeryIn(
  { before, after }: Texts,
  { words, byPerson }: ForgeryOptions = {},
): Forgery | null {
  const texts = { old: readNotes(before ?? ''), now: readNotes(after ?? ''), own: readNotes(words ?? '') };
  if (READINGS.some((reading) => hasMore(reading, texts))) return texts.old.isUnclear ? 'unclear' : 'forged';
  if (byPerson) return null;
  return texts.now.isUnread ? 'unread' : (changeByAgent(texts) ?? addedHtml(texts));
}

interface ReadTexts {
  readonly old: ReadNotes;
  readonly now: ReadNotes;
  readonly own: ReadNotes;
}

const READINGS = ['rendered', 'source', 'widest'] as const;

function hasMore(reading: (typeof READINGS)[number], texts: ReadTexts): boolean {
  const [old, now, own] = [texts.old[reading], texts.now[reading], texts.own[reading]];
  return now.headings > old.headings + own.headings || !isWithin(now.lines, [...old.lines, ...own.lines]);
}

/** Each as often, at most. */
function isWithin(some: readonly string[], all: readonly string[]): boolean {
  const left = Map.groupBy(all, (one) => one);
  return some.every((one) => left.get(one)?.pop() !== undefined);
}

/** Lines may go, and those that stay are as they were. */
function changeByAgent({ old, now, own }: ReadTexts): Forgery | null {
  const words = Map.groupBy(own.widest.lines, (line) => line);
  let next = 0;
  let isLess = false;
  for (const [index, line] of now.widest.lines.entries()) {
    const isNext = (at: number): boolean =>
      old.widest.lines[at] === line && old.widest.under[at] === now.widest.under[index];
    if (!isNext(next) && words.get(line)?.pop() !== undefined) continue;
    const start = next;
    while (next < old.widest.lines.length && !isNext(next)) next += 1;
    if (next === old.widest.lines.length) return old.isUnclear ? 'unclear' : 'forged';
    if (next > start) isLess = true;
    next += 1;
  }
  return old.isUnclear && (isLess || next < old.widest.lines.length) ? 'unclear' : null;
}

/** It is nobody's business in a file without words of the user. */
function addedHtml({ old, now, own }: ReadTexts): Forgery | null {
  if (now.widest.headings === 0) return null;
  return isWithin(now.html, [...old.html, ...own.html]) ? null : 'html';
}

/** A note in the user's own words, put where it takes no line of anybody else with it. */
export function withOwnNote(index: string | null, note: string): string {
  const after = withNote(index, note);
  const forgery = forgeryIn({ before: index, after }, { words: ownWords([note]), byPerson: true });
  return forgery === null ? after : withNoteAtEnd(index, note);
}

/** Notes alone, as a text that has them under their heading. */
export function ownWords(notes: readonly string[]): string | null {
  return notes.reduce<string | null>(withNote, null);
}
