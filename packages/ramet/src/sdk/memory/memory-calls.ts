/** What a person can do with memory: see it, edit it, ask where a line came from, and undo (MEM-2). */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryChange } from '../../memory/files/memory-history.ts';
import {
  INDEX_FILE,
  MEMORY_SCOPES,
  type MemoryPlace,
  type MemoryScope,
  type StoreName,
  scopeFolder,
  scopeOfFile,
  storeOf,
} from '../../memory/files/memory-places.ts';
import { MemoryStore } from '../../memory/files/memory-store.ts';
import { mergedTexts } from '../../memory/files/merged-texts.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import type { Settings } from '../../settings/settings.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlace } from '../place.ts';
import {
  changesOf,
  idOf,
  lastUndoable,
  parseId,
  type ShownMemoryChange,
  STORES,
  shownChange,
  undoable,
} from './named-changes.ts';
import { memoryPlace } from './session-memory.ts';

export { MEMORY_SCOPES };

export interface ShownMemoryFile {
  /** `project`, `local`, `user`, or what the file belongs to: `agent NAME`, `team NAME`, `session ID`. */
  scope: string;
  path: string;
  bytes: number;
  lines: number;
  /** Null if it cannot be read as memory; `problem` says why. */
  text: string | null;
  problem: string | null;
}

export interface MemoryReport {
  files: ShownMemoryFile[];
  /** The newest first. */
  changes: ShownMemoryChange[];
}

/** All of memory that belongs to this checkout; `wanted` is a scope, or a file as it is listed. */
export async function showMemory(wanted?: string, options: CallOptions = {}): Promise<MemoryReport> {
  const place = placeOf(options);
  const files = STORES.flatMap((name) => filesOf(place, name));
  const chosen = wanted === undefined ? files : files.filter((file) => isWanted(file, wanted));
  if (wanted !== undefined && chosen.length === 0 && !isScope(wanted)) throw unknownFile(wanted, files);
  return { files: await Promise.all(chosen.map(asRead)), changes: changesOf(place) };
}

/** What agents wrote stands under no heading of the user: here as where agents read it. */
async function asRead(file: ShownMemoryFile): Promise<ShownMemoryFile> {
  if (isScope(file.scope) || file.text === null) return file;
  const { asOfAgents } = await import('../../memory/files/memory-prompt.ts');
  return { ...file, text: await asOfAgents(file.text) };
}

export interface EditedMemory {
  path: string;
  /** Null if nothing changed. */
  change: string | null;
  /** Lines of the person that stay where an agent wrote otherwise meanwhile. */
  kept: number;
}

/** A note of a session. */
export interface RememberRequest {
  scope?: MemoryScope;
  signal?: AbortSignal;
}

export interface NoteOrder {
  note: string;
  /** `project` when absent. */
  scope?: MemoryScope;
  session?: SessionId | null;
}

/** Throws for a session that would begin without memory: its user must not take the note for remembered. */
export function refuseWhereOff({ memory }: Pick<Settings, 'memory'>): void {
  if (memory?.enabled !== false) return;
  throw new UserMistake(
    'memory_off',
    'memory is off here, by memory.enabled or --bare, so the note is not saved; ramet memory edit --add saves it',
  );
}

/** Adds a note in the words of a person. */
export async function addMemoryNote(order: NoteOrder, options: CallOptions = {}): Promise<EditedMemory> {
  return (await saveNote(order, placeOf(options))).saved;
}

interface WrittenNote {
  saved: EditedMemory;
  store: string;
  name: StoreName;
  change: MemoryChange | null;
}

/** The same, with the change itself. */
export async function saveNote(
  { note, scope = 'project', session = null }: NoteOrder,
  place: MemoryPlace,
): Promise<WrittenNote> {
  if (note.trim() === '') throw new UserMistake('no_note', 'the note is empty: say what to remember');
  const { store: root, folder } = scopeFolder(place, scope);
  using store = new MemoryStore(root);
  const file = join(folder, INDEX_FILE);
  const { ownWords, withOwnNote } = await import('../../memory/files/refuse-forged-notes.ts');
  const change = await store.change(
    { kind: 'note', session, agent: null, turn: null },
    (read) => new Map([[file, withOwnNote(read(file), note)]]),
    { byPerson: true, words: () => ownWords([note]) },
  );
  const name = storeName(scope);
  const id = change === null ? null : idOf(name, change.id);
  return { saved: { path: join(root, file), change: id, kept: 0 }, store: root, name, change };
}

/** `edit` gets the text and says what it should be. What agents wrote meanwhile is merged in. */
export async function editMemory(
  wanted: string,
  edit: (text: string) => Promise<string>,
  options: CallOptions = {},
): Promise<EditedMemory> {
  const place = placeOf(options);
  const { name, file } = fileToEdit(place, wanted);
  using store = new MemoryStore(storeOf(place, name));
  const before = store.read(file);
  const edited = await edit(before ?? '');
  let kept = 0;
  const change = await store.change(
    { kind: 'edit', session: null, agent: null, turn: null },
    (read) => {
      const merged = mergedTexts({ mine: edited, base: before ?? '', theirs: read(file) ?? '' });
      kept = merged.kept;
      return new Map([[file, merged.text === '' && read(file) === null ? null : merged.text]]);
    },
    { byPerson: true, words: () => edited },
  );
  return { path: join(store.root, file), change: change === null ? null : idOf(name, change.id), kept };
}

export interface ExplainedLine {
  path: string;
  line: number;
  text: string;
  /** Null for a line that a person wrote and that no change has met since. */
  change: ShownMemoryChange | null;
}

/** `wanted`: a part of the text, or `FILE:LINE`. */
export function explainMemory(wanted: string, options: CallOptions = {}): ExplainedLine[] {
  if (wanted.trim() === '')
    throw new UserMistake('no_line', 'say which line: a part of its text, or FILE:LINE');
  const place = placeOf(options);
  const [, file, number] = /^(.+\.md):(\d+)$/.exec(wanted) ?? [];
  const needle = wanted.toLowerCase();
  const problems: string[] = [];
  const found = STORES.flatMap((name) => {
    using store = new MemoryStore(storeOf(place, name));
    return filesOf(place, name).flatMap(({ path, text, problem }) => {
      if (problem !== null) problems.push(problem);
      if (text === null || (file !== undefined && !path.endsWith(file))) return [];
      const isAsked = (line: string, at: number): boolean =>
        file === undefined
          ? line.trim() !== '' && line.toLowerCase().includes(needle)
          : at === Number(number);
      if (!text.split('\n').some((line, index) => isAsked(line, index + 1))) return [];
      return store
        .origins(path.slice(store.root.length + 1))
        .filter((line) => isAsked(line.text, line.number))
        .map(({ number: line, text: shown, change }) => ({
          ...{ path, line, text: shown },
          change: change === null ? null : shownChange(name, change),
        }));
    });
  });
  if (found.length === 0)
    throw new UserMistake(
      'no_line',
      [`no line of memory has ${JSON.stringify(wanted)}: ramet memory show lists them`, ...problems].join(
        '; ',
      ),
    );
  return found;
}

export interface UndoneMemory {
  undone: ShownMemoryChange;
  /** The change that took it back; undoing that brings it again. Null if nothing of it was left. */
  change: string | null;
  /** The files that it changed. */
  files: string[];
  /** Lines that stay, because of what was changed since. */
  kept: number;
  /** Where nothing was taken back: the change before it. */
  earlier: string | null;
}

/** `wanted` is a change as `showMemory` names it; the last that can be undone when absent. */
export async function undoMemory(wanted?: string, options: CallOptions = {}): Promise<UndoneMemory> {
  const place = placeOf(options);
  const { name, id } = wanted === undefined ? lastUndoable(place) : parseId(wanted);
  using store = new MemoryStore(storeOf(place, name));
  const { undone, change, kept } = await store.undo({ session: null, agent: null, turn: null }, id);
  const open = undoable(place);
  return {
    undone: shownChange(name, undone),
    change: change === null ? null : idOf(name, change.id),
    files: change?.files.map(({ path }) => path) ?? [],
    kept,
    earlier: change === null ? (open[open.indexOf(idOf(name, id)) + 1] ?? null) : null,
  };
}

function placeOf(options: CallOptions): MemoryPlace {
  const caller = callerOf(options);
  return memoryPlace(findPlace(caller), caller.env);
}

function storeName(scope: MemoryScope): StoreName {
  return scope === 'user' ? 'user' : 'project';
}

function isScope(wanted: string): wanted is MemoryScope {
  return wanted === 'project' || wanted === 'local' || wanted === 'user';
}

function isWanted({ scope, path }: ShownMemoryFile, wanted: string): boolean {
  return scope === wanted || path === wanted || path.endsWith(`/memory/${wanted}`);
}

function unknownFile(wanted: string, files: readonly ShownMemoryFile[]): UserMistake {
  const hint = files.length === 0 ? 'nothing is remembered yet' : 'ramet memory show lists what there is';
  return new UserMistake('no_memory', `there is no memory ${JSON.stringify(wanted)}: ${hint}`);
}

function filesOf(place: MemoryPlace, name: StoreName): ShownMemoryFile[] {
  using store = new MemoryStore(storeOf(place, name));
  const local = scopeFolder(place, 'local').folder;
  return store.files().flatMap((file): ShownMemoryFile[] => {
    if (file.startsWith('local/') && !file.startsWith(`${local}/`)) return [];
    const path = join(store.root, file);
    const scope = scopeOfFile(file, name);
    try {
      const text = store.read(file) ?? '';
      const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
      return [{ scope, path, bytes: Buffer.byteLength(text), lines, text, problem: null }];
    } catch (error) {
      const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const problem = error instanceof Error ? error.message : String(error);
      return [{ scope, path, bytes, lines: 0, text: null, problem }];
    }
  });
}

function fileToEdit(place: MemoryPlace, wanted: string): { name: StoreName; file: string } {
  if (isScope(wanted))
    return { name: storeName(wanted), file: join(scopeFolder(place, wanted).folder, INDEX_FILE) };
  const files = STORES.flatMap((name) => filesOf(place, name).map((file) => ({ name, file })));
  const found = files.find(({ file }) => isWanted(file, wanted));
  if (found === undefined)
    throw unknownFile(
      wanted,
      files.map(({ file }) => file),
    );
  return { name: found.name, file: found.file.path.slice(storeOf(place, found.name).length + 1) };
}
