/** The lines of a store that a dream looks at: entries, with their date and whose they are. Headings and prose are not its business. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { requireChangeable } from '../files/memory-file.ts';
import { isPointer, NOTES_HEADING, sameness, TELLING_SIGN, withoutMarks } from '../files/memory-index.ts';
import { scopeOfFile } from '../files/memory-places.ts';
import type { MemoryStore } from '../files/memory-store.ts';

export interface MemoryLine {
  /** `L12`: how a model names it. */
  readonly id: string;
  readonly file: string;
  /** Lines of one scope have the same readers: only they can stand for each other. */
  readonly scope: string;
  readonly text: string;
  /** What it says, without signs, case and date. */
  readonly same: string;
  /** Words that carry meaning. */
  readonly words: ReadonlySet<string>;
  /** `2026-03-04`: as the line says, or when it was written; null if neither is known. */
  readonly date: string | null;
  /** A person wrote it: it is removed for nothing but an equal line. */
  readonly isPersons: boolean;
}

const DATE = /\b(\d{4}-\d{2}-\d{2})\b/;
const BY_PERSON: ReadonlySet<string> = new Set(['hand', 'note', 'edit']);
/** Team memory is others' too; notes of sessions are of one session. */
const LEFT_ALONE = /^(?:team|sessions)\//;

/** Of the files that a dream may change; `unusable` names those that cannot be read, have conflicts or are read-only. */
export async function memoryLines(store: MemoryStore): Promise<{ lines: MemoryLine[]; unusable: string[] }> {
  const lines: MemoryLine[] = [];
  const unusable: string[] = [];
  for (const file of store.files().filter((path) => !LEFT_ALONE.test(path))) {
    await setImmediate();
    try {
      requireChangeable(join(store.root, file), store.read(file));
      let section = '';
      for (const { text, change } of store.origins(file)) {
        if (/^#{1,2}\s/.test(text)) section = text.trim().toLowerCase();
        if (!isEntry(text)) continue;
        const isNote = section === NOTES_HEADING.toLowerCase();
        lines.push({
          ...{
            id: `L${lines.length + 1}`,
            file,
            scope: scopeOfFile(file, 'project'),
            text,
            same: sameness(text),
            words: wordsOf(text),
          },
          date: DATE.exec(text)?.[1] ?? (change === null ? null : dayOf(change.at)),
          isPersons: isNote || change === null || BY_PERSON.has(change.kind),
        });
      }
    } catch {
      unusable.push(file);
    }
  }
  return { lines, unusable };
}

function isEntry(text: string): boolean {
  return /^- \S/.test(text) && !isPointer(text);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const SMALL = new Set(
  'the a an and or of to in on at by for with from as is are was were be been it its this that these those has have had not no do does did will would can could should must may'.split(
    ' ',
  ),
);

const WORD = new RegExp(
  `[\\p{L}\\p{N}][\\p{L}\\p{N}._/@-]*[\\p{L}\\p{N}]|[\\p{L}\\p{N}]|(?:${TELLING_SIGN})+`,
  'gu',
);

/** "not", numbers and signs count: they make another fact of the same words. */
function wordsOf(text: string): ReadonlySet<string> {
  const plain = withoutMarks(text).toLowerCase();
  const words = plain.replace(/^- /, '').match(WORD) ?? [];
  return new Set(words.filter((word) => !SMALL.has(word) || word === 'not' || word === 'no'));
}

/** How much of two lines is the same: 1 for all of it. */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = a.intersection(b).size;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}
