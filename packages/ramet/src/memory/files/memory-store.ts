/**
 * A store of memory: its files, and the history of who changed them. Everything that Ramet writes to memory goes through
 * `change`: it guards against secrets, records the source and loses no edit of a person.
 *
 * Invariants
 * 1. What a person changed since the last change is recorded as theirs before anything else is.
 * 2. A change is made from the texts that it replaces; if one of them changes meanwhile, it is made again.
 * 3. All files of a change are written or none.
 */
import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { diff3Merge } from 'node-diff3';
import { RametError, UserMistake } from '../../schema/errors.ts';
import { lineDiff, numberedLines } from '../../system/text/line-diff.ts';
import { type LineOrigin, lineOrigins } from './line-origins.ts';
import { LONGEST_FILE, prepareFile, readWholeText, requireChangeable } from './memory-file.ts';
import {
  type ChangedFile,
  historyFile,
  type MemoryChange,
  MemoryHistory,
  type MemorySource,
} from './memory-history.ts';

/** Files by their paths in the store; null removes one. */
export type MemoryEdit = ReadonlyMap<string, string | null>;

type ReadText = (path: string) => string | null;

export interface ChangeOptions {
  readonly undoes?: number;
  /** A person changes it: also where agents may not. */
  readonly byPerson?: boolean;
}

/** Ends the transaction, so that the record of the change goes too. */
class Overtaken extends RametError {
  constructor() {
    super('memory_overtaken', 'retryable', 'a file of memory changed meanwhile');
  }
}

const MOST_TRIES = 10;
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
    return this.#history;
  }

  /** Whether it has a history. */
  get isThere(): boolean {
    return existsSync(historyFile(this.root));
  }

  read(path: string): string | null {
    return readWholeText(join(this.root, path));
  }

  /** Paths of all files of memory, in order. */
  files(): string[] {
    return textFiles(this.root).map((path) => relative(this.root, path).split(sep).join('/'));
  }

  /** Null if `edit` changes nothing. It may be called several times. */
  async change(
    source: MemorySource,
    edit: (read: ReadText) => MemoryEdit,
    options: ChangeOptions = {},
  ): Promise<MemoryChange | null> {
    const guard = await import('../secrets/secret-guard.ts');
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        return this.#known.alone(() => this.#tryChange(source, edit, options, guard));
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
    source: MemorySource,
    edit: (read: ReadText) => MemoryEdit,
    { undoes, byPerson = false }: ChangeOptions,
    guard: SecretGuard,
  ): MemoryChange | null {
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
      if (after !== null) refuseSecrets(guard, join(this.root, path), after, newLines(before ?? '', after));
    }
    const history = this.#known;
    for (const { path, before } of files) {
      const last = history.lastText(path) ?? null;
      if (last !== before) history.add(HAND, this.#now(), [{ path, before: last, after: before }]);
    }
    const change = history.add(source, this.#now(), files, undoes ?? null);
    if (!this.#put(files)) throw new Overtaken();
    return change;
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
    return true;
  }

  #putBack(files: readonly ChangedFile[]): false {
    for (const { path, before, after } of files) {
      using waits = prepareFile(join(this.root, path), after, before);
      waits.putInPlace();
    }
    return false;
  }

  /** The oldest first. */
  changes(path?: string): MemoryChange[] {
    return this.#known.changes(path);
  }

  /** Where each line of a file came from. */
  origins(path: string): LineOrigin[] {
    const changes = this.#known.changes(path).map((change) => ({
      ...change,
      files: change.files.filter((file) => file.path === path),
    }));
    return lineOrigins(changes, this.read(path) ?? '');
  }

  /** Takes a change back, the last one that is none of a person's hand if none is named; what was changed since stays. */
  async undo(source: Omit<MemorySource, 'kind'>, id: number | null): Promise<UndoneChange> {
    const undone = this.#toUndo(id);
    const kept = new Map<string, number>();
    const change = await this.change(
      { ...source, kind: 'undo' },
      (read) =>
        new Map(
          undone.files.map((file) => {
            const { text, kept: lines } = takenBack(file, read(file.path));
            kept.set(file.path, lines);
            return [file.path, text];
          }),
        ),
      { undoes: undone.id, byPerson: true },
    );
    const total = kept.values().reduce((sum, lines) => sum + lines, 0);
    return { undone, change, kept: total };
  }

  #toUndo(id: number | null): MemoryChange {
    const all = this.#known.changes();
    const gone = new Set(all.flatMap(({ undoes }) => undoes ?? []));
    const found =
      id === null
        ? all.findLast(({ id: own, kind }) => kind !== 'hand' && kind !== 'undo' && !gone.has(own))
        : all.find(({ id: own }) => own === id);
    if (found === undefined)
      throw new UserMistake(
        'no_change',
        id === null
          ? 'there is nothing to undo in this memory'
          : `memory has no change ${id}: ramet memory show --changes lists them`,
      );
    if (gone.has(found.id)) throw new UserMistake('undone', `change ${found.id} is undone already`);
    return found;
  }

  [Symbol.dispose](): void {
    this.#history?.[Symbol.dispose]();
  }
}

export interface UndoneChange {
  readonly undone: MemoryChange;
  /** Null if nothing of it was left. */
  readonly change: MemoryChange | null;
  /** Lines that stay as they are, because they were changed since. */
  readonly kept: number;
}

type SecretGuard = Pick<typeof import('../secrets/secret-guard.ts'), 'secretsIn' | 'secretsText'>;

/** `isNew` says which lines the change adds: what a person has put there before is theirs. */
function refuseSecrets(
  { secretsIn, secretsText }: SecretGuard,
  path: string,
  text: string,
  isNew: (line: number) => boolean,
): void {
  const found = secretsIn(text).filter(({ line }) => isNew(line));
  if (found.length === 0) return;
  throw new UserMistake(
    'memory_secret',
    `not saved to ${path}: it looks like a secret in ${secretsText(found)}; memory keeps none`,
  );
}

/** A three-way merge; `mine` wins where both have changed, and `kept` counts its lines there. */
export function mergedTexts(sides: { mine: string; base: string; theirs: string }): {
  text: string;
  kept: number;
} {
  const [mine = [], base = [], theirs = []] = [sides.mine, sides.base, sides.theirs].map((text) =>
    text.split('\n'),
  );
  let kept = 0;
  const lines = diff3Merge(mine, base, theirs, { excludeFalseConflicts: true }).flatMap(
    ({ ok, conflict }) => {
      kept += conflict?.a.length ?? 0;
      return ok ?? conflict?.a ?? [];
    },
  );
  return { text: lines.join('\n'), kept };
}

/** What was changed since wins. */
function takenBack(
  { before, after }: ChangedFile,
  now: string | null,
): { text: string | null; kept: number } {
  if (now === after) return { text: before, kept: 0 };
  if (now === null) return { text: null, kept: 0 };
  return mergedTexts({ mine: now, base: after ?? '', theirs: before ?? '' });
}

function newLines(before: string, after: string): (line: number) => boolean {
  const added = new Set(
    numberedLines(lineDiff(before, after)).flatMap(({ kind, number }) => (kind === 'added' ? [number] : [])),
  );
  return (line) => added.has(line);
}

function textFiles(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // there is no memory yet
  }
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name.startsWith('.') ? [] : textFiles(path);
      return entry.name.endsWith('.md') ? [path] : [];
    });
}
