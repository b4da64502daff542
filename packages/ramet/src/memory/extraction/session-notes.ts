/**
 * The notes of a session (BG-5): a short file of its own beside the memory of the repository. The session itself reads it
 * again after a compaction, and the next ones when they begin.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../../schema/ids.ts';
import { readStart } from '../files/memory-file.ts';
import { INDEX_BYTES } from '../files/memory-index.ts';
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

export const NOTES_OF_SESSION: RegExp = /^# Session \S+, up to prompt (\d{1,9}) /;

/** The newest notes first. Whatever else a person has put there stays. Without any note there is no file. */
export function withNotes(
  text: string | null,
  { session, prompts, today, notes }: SessionNotes,
): string | null {
  const lines = (text ?? '').replace(/\n$/, '').split('\n');
  const rest = NOTES_OF_SESSION.test(lines[0] ?? '') || lines[0] === '' ? lines.slice(1) : lines;
  const fresh = notes.map((note) => `- ${note}`).filter((line) => !rest.includes(line));
  if ([...fresh, ...rest].every((line) => line.trim() === '')) return text;
  return `${[`# Session ${session}, up to prompt ${prompts} (${today})`, ...fresh, ...rest].join('\n')}\n`;
}

/** Whether anything is noted in a file. One that is no text is shown as a problem. */
function saysSomething(path: string): boolean {
  try {
    const text = readStart(path, INDEX_BYTES)?.text ?? '';
    return text.split('\n').some((line) => line.trim() !== '' && !NOTES_OF_SESSION.test(line));
  } catch {
    return true;
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
  const shown: string[] = [];
  for (const name of earlier) {
    if (shown.length === EARLIER) break;
    if (saysSomething(join(folder, name))) shown.push(name);
  }
  return [
    ...shown.map((name) => part(name, `notes of session ${name.slice(0, -3)}`)),
    ...(own === null ? [] : [part(`${own}.md`, 'notes of this session')]),
  ];
}

/** More sessions than that have no notes: the oldest go, unless a person has changed them. */
const MOST_SESSIONS = 50;

/** Paths of notes that are to go, also of files that say nothing; `own` is being written. */
export function oldNotes(store: MemoryStore, own: SessionId): string[] {
  const folder = join(store.root, FOLDER);
  const others = latestFiles(folder).filter((name) => name !== `${own}.md`);
  const { said = [], empty = [] } = Object.groupBy(others, (name) =>
    saysSomething(join(folder, name)) ? 'said' : 'empty',
  );
  return [...said.slice(MOST_SESSIONS - 1), ...empty]
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
