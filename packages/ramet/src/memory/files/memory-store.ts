/**
 * A store of memory: its files, and the history of who changed them. Everything that Ramet writes to memory goes through
 * `change`: it guards against secrets, records the source and loses no edit of a person.
 *
 * Invariants
 * 1. What a person changed since the last change is recorded as theirs before anything else is.
 * 2. A change is made from the texts that it replaces; if one of them changes meanwhile, it is made again.
 * 3. All files of a change are written or none, and no file is written before the change is on disk (`change-intent.ts`).
 */
import { join, relative, sep } from 'node:path';
import { RametError, UserMistake } from '../../schema/errors.ts';
import { intentsIn, readIntent, removeIntent, writeIntent } from './change-intent.ts';
import { finishFiles } from './finish-files.ts';
import { type LineOrigin, lineOrigins } from './line-origins.ts';
import { LONGEST_FILE, readWholeText, requireChangeable, textFiles } from './memory-file.ts';
import {
  type ChangedFile,
  type ChangeKind,
  lookInto,
  type MemoryChange,
  MemoryHistory,
  type MemorySource,
} from './memory-history.ts';
import { refuseSecrets } from './refuse-secrets.ts';
import { prepareFile, removeEmptyFolders } from './replaced-file.ts';
import { canBeLast, changeToUndo, undoneFiles } from './undone-files.ts';

export { canBeLast };

/** Files by their paths in the store; null removes one. */
export type MemoryEdit = ReadonlyMap<string, string | null>;

type ReadText = (path: string) => string | null;

export interface ChangeOptions {
  readonly undoes?: number;
  /** A person changes it: also where agents may not. */
  readonly byPerson?: boolean;
  /** What may come under the notes of the user in a file: a text that has it there. */
  readonly words?: (path: string) => string | null;
}

/** Ends the transaction, so that the record of the change goes too. */
class Overtaken extends RametError {
  constructor() {
    super('memory_overtaken', 'retryable', 'a file of memory changed meanwhile');
  }
}

const MOST_TRIES = 10;
/** They say what agents have made: it comes under no notes of the user. */
const BY_AGENTS: readonly ChangeKind[] = ['agent', 'extraction', 'dream'];
const HAND: MemorySource = { kind: 'hand', session: null, agent: null, turn: null };

export class MemoryStore implements Disposable {
  readonly root: string;
  readonly #now: () => number;
  #history: MemoryHistory | null = null;

  constructor(root: string, now: () => number = Date.now) {
    this.root = root;
    this.#now = now;
  }

  get #known(): MemoryHistory {
    this.#history ??= new MemoryHistory(this.root);
    this.#finishIntents(this.#history);
    return this.#history;
  }

  /** Changes of processes that were killed before their record was complete. Who has the lock knows that they are dead. */
  #finishIntents(history: MemoryHistory): void {
    const open = intentsIn(this.root);
    if (open.length === 0) return;
    history.alone(() => {
      for (const id of open) {
        const intent = readIntent(this.root, id);
        if (intent === null || history.has(intent)) continue;
        const files = finishFiles(this.root, intent.files);
        if (files.length > 0) this.#record(history, intent, files, intent);
      }
    });
    for (const id of open) removeIntent(this.root, id);
  }

  #look<Found>(look: (history: MemoryHistory) => Found): Found | null {
    return lookInto(this.root, () => this.#known, look);
  }

  read(path: string): string | null {
    return readWholeText(join(this.root, path));
  }

  /** Paths of all files of memory, in order; changes of killed processes are complete then. */
  files(): string[] {
    if (intentsIn(this.root).length > 0) this.#look(() => null);
    return textFiles(this.root).map((path) => relative(this.root, path).split(sep).join('/'));
  }

  /** Null if `edit` changes nothing. It may be called several times. */
  async change(
    source: MemorySource,
    edit: (read: ReadText) => MemoryEdit,
    options: ChangeOptions = {},
  ): Promise<MemoryChange | null> {
    const guard = await import('../secrets/secret-guard.ts');
    const { byPerson = false, words } = options;
    const isGuarded = words !== undefined || BY_AGENTS.includes(source.kind);
    const forged = isGuarded ? await import('./refuse-forged-notes.ts') : null;
    const refuse = (file: ChangedFile): void => {
      // What an undo brings back was a person's own, or was checked when it was written.
      if (source.kind !== 'undo') refuseSecrets(guard, this.root, file);
      forged?.refuseForgedNotes(this.root, file, { byPerson, words: words?.(file.path) ?? null });
    };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        const history = this.#known;
        const change = history.alone(() => this.#tryChange(history, source, edit, { ...options, refuse }));
        if (change !== null) removeIntent(this.root, change.id);
        return change;
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
      }
    }
    throw new RametError(
      'memory_busy',
      'retryable',
      `memory in ${this.root} changes all the time: nothing was written`,
    );
  }

  #tryChange(
    history: MemoryHistory,
    source: MemorySource,
    edit: (read: ReadText) => MemoryEdit,
    { undoes, byPerson = false, refuse }: ChangeOptions & { refuse(file: ChangedFile): void },
  ): MemoryChange | null {
    // Another process was killed since we looked.
    if (intentsIn(this.root).length > 0) throw new Overtaken();
    const found = new Map<string, string | null>();
    const read = (path: string): string | null => {
      const known = found.get(path);
      if (known !== undefined) return known;
      const text = this.read(path);
      found.set(path, text);
      return text;
    };
    const files: ChangedFile[] = Array.from(edit(read), ([path, after]) => ({
      path,
      before: read(path),
      after,
    })).filter(({ before, after }) => before !== after);
    if (files.length === 0) return null;
    for (const { path, before, after } of files) {
      if (!byPerson) requireChangeable(join(this.root, path), before);
      if (after !== null && Buffer.byteLength(after) > LONGEST_FILE)
        throw new UserMistake(
          'memory_file',
          `${path} would have more than ${LONGEST_FILE} bytes: not written`,
        );
      refuse({ path, before, after });
    }
    const change = this.#record(history, source, files, { at: this.#now(), undoes: undoes ?? null });
    try {
      writeIntent(this.root, change);
      if (!this.#put(files)) throw new Overtaken();
    } catch (error) {
      removeIntent(this.root, change.id);
      throw error;
    }
    return change;
  }

  /** What a person has changed since the last change is theirs. */
  #record(
    history: MemoryHistory,
    source: MemorySource,
    files: readonly ChangedFile[],
    { at, undoes }: Pick<MemoryChange, 'at' | 'undoes'>,
  ): MemoryChange {
    for (const { path, before } of files) {
      const last = history.lastText(path) ?? null;
      if (last !== before) history.add(HAND, at, [{ path, before: last, after: before }]);
    }
    return history.add(source, at, files, undoes);
  }

  #put(files: readonly ChangedFile[]): boolean {
    using waiting = new DisposableStack();
    const prepared = files.map((file) => ({
      file,
      waits: waiting.use(prepareFile(join(this.root, file.path), file.before, file.after)),
    }));
    const done: ChangedFile[] = [];
    try {
      for (const { file, waits } of prepared) {
        if (!waits.putInPlace()) return this.#putBack(done);
        done.push(file);
      }
    } catch (error) {
      this.#putBack(done);
      throw error;
    }
    for (const { path, after } of files)
      if (after === null) removeEmptyFolders(this.root, join(this.root, path));
    return true;
  }

  #putBack(files: readonly ChangedFile[]): false {
    for (const { path, before, after } of files) {
      using waits = prepareFile(join(this.root, path), after, before);
      waits.putInPlace();
    }
    return false;
  }

  /** What a sync has put into files. One that was changed since is left to the next change. */
  record(source: MemorySource, written: readonly ChangedFile[]): MemoryChange | null {
    const history = this.#known;
    return history.alone(() => {
      const files = written.filter(
        ({ path, before, after }) =>
          before !== after && history.lastText(path) !== after && this.#has(path, after),
      );
      const when = { at: this.#now(), undoes: null };
      return files.length === 0 ? null : this.#record(history, source, files, when);
    });
  }

  #has(path: string, text: string | null): boolean {
    try {
      return this.read(path) === text;
    } catch {
      return false; // it is no memory any more
    }
  }

  /** The oldest first. */
  changes(path?: string): MemoryChange[] {
    return this.#look((history) => history.changes(path)) ?? [];
  }

  /** Where each line of a file came from. */
  origins(path: string): LineOrigin[] {
    const changes = this.changes(path).map((change) => ({
      ...change,
      files: change.files.filter((file) => file.path === path),
    }));
    return lineOrigins(changes, this.read(path) ?? '');
  }

  /** Takes a change back, the last one that is none of a person's hand, and no removal of old notes, if none is named; what was changed since stays. */
  async undo(source: Omit<MemorySource, 'kind'>, id: number | null): Promise<UndoneChange> {
    const undone = changeToUndo(this.#known.changes(), id);
    let kept = 0;
    const change = await this.change(
      { ...source, kind: 'undo' },
      (read) => {
        const later = this.#known.changes().filter(({ id: other }) => other > undone.id);
        const back = undoneFiles(undone, later, read);
        kept = back.kept;
        return back.files;
      },
      {
        undoes: undone.id,
        byPerson: true,
        words: (path) => undone.files.find((file) => file.path === path)?.before ?? null,
      },
    );
    return { undone, change, kept };
  }

  [Symbol.dispose](): void {
    this.#history?.[Symbol.dispose]();
  }
}

export interface UndoneChange {
  readonly undone: MemoryChange;
  /** Null if nothing of it was left. */
  readonly change: MemoryChange | null;
  /** Lines that stay as they are, because of what was changed since. */
  readonly kept: number;
}
