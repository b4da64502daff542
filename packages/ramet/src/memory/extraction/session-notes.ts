/**
 * The notes of a session (BG-5): a short file of its own beside the memory of the repository. The session itself reads it
 * again after a compaction, and the next ones when they begin.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../../schema/ids.ts';
import { readStart } from '../files/memory-file.ts';
import { type MemoryPlace, storeOf } from '../files/memory-places.ts';
import type { MemoryPart } from '../files/memory-prompt.ts';
import type { MemoryStore } from '../files/memory-store.ts';

const FOLDER = 'sessions';
/** How much of the notes of a session is read again. */
const READ_LINES = 40;
/** How many earlier sessions a new one learns of. */
const EARLIER = 2;

export function notesFile(session: SessionId): string {
  return `${FOLDER}/${session}.md`;
}

export interface SessionNotes {
  readonly session: SessionId;
  /** Up to which prompt of the session they go. */
  readonly prompts: number;
  readonly today: string;
  readonly notes: readonly string[];
}

const HEADING = /^# Session \S+, up to prompt (\d{1,9}) /;

/** The newest notes first. Whatever else a person has put there stays. */
export function withNotes(text: string | null, { session, prompts, today, notes }: SessionNotes): string {
  const lines = (text ?? '').replace(/\n$/, '').split('\n');
  const rest = HEADING.test(lines[0] ?? '') || lines[0] === '' ? lines.slice(1) : lines;
  const fresh = notes.map((note) => `- ${note}`).filter((line) => !rest.includes(line));
  return `${[`# Session ${session}, up to prompt ${prompts} (${today})`, ...fresh, ...rest].join('\n')}\n`;
}

/** Up to which prompt a session has been noted; 0 without notes. */
export function notedPrompts(place: MemoryPlace, session: SessionId): number {
  try {
    const text = readStart(join(storeOf(place, 'project'), notesFile(session)), 1_000)?.text ?? '';
    return Number(HEADING.exec(text)?.[1] ?? 0);
  } catch {
    // A file that is no text says nothing.
    return 0;
  }
}

/** Its own notes, and those of the sessions before it. `own` is null for one that begins. */
export function notesParts(place: MemoryPlace, own: SessionId | null): MemoryPart[] {
  const folder = join(storeOf(place, 'project'), FOLDER);
  const earlier = latestFiles(folder).filter((name) => name !== `${own}.md`);
  const part = (name: string, title: string): MemoryPart => ({
    title,
    path: join(folder, name),
    lines: READ_LINES,
  });
  return [
    ...earlier.slice(0, EARLIER).map((name) => part(name, `notes of session ${name.slice(0, -3)}`)),
    ...(own === null ? [] : [part(`${own}.md`, 'notes of this session')]),
  ];
}

/** More sessions than that have no notes: the oldest go, unless a person has changed them. */
const MOST_SESSIONS = 50;

/** Paths of notes that are to go; `own` is being written. */
export function oldNotes(store: MemoryStore, own: SessionId): string[] {
  const others = latestFiles(join(store.root, FOLDER)).filter((name) => name !== `${own}.md`);
  return others
    .slice(MOST_SESSIONS - 1)
    .map((name) => `${FOLDER}/${name}`)
    .filter((path) => store.changes(path).every(({ kind }) => kind === 'session-notes'))
    .filter((path) => store.origins(path).every(({ change }) => change !== null));
}

/** Names, the newest first. */
function latestFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\w+\.md$/.test(name))
      .map((name) => ({ name, at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .sort((a, b) => b.at - a.at)
      .map(({ name }) => name);
  } catch {
    return []; // there are none yet
  }
}
