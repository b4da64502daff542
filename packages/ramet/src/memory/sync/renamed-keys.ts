/**
 * Names that changed in case or Unicode form only, on either side. `name-spelling.ts` decides which one counts.
 *
 * A name that others have changed is given to the file here before its key is synchronised: a folder keeps what is in it, and
 * edits stay. A name that was changed here goes to the server when the texts agree: until then the file is that of the old
 * key. The old keys are deleted first, because the server refuses a key beside one that is the same but for case.
 */
import { DEFAULT_LIMITS, type MemoryEntry } from '../wire/memory-shapes.ts';
import type { Done, KeySync, KnownSides, SyncChange, SyncedText } from './key-sync.ts';
import { type LocalFile, readFolder, readLocal, renameLocal, type SyncedFiles } from './local-folder.ts';
import { type KeptNames, NameSpelling } from './name-spelling.ts';
import { type AgreedKey, newNameProblem, planKey, secretProblem } from './plan-key.ts';
import type { SyncState } from './sync-state.ts';

export interface KeyChange {
  key: string;
  change: SyncChange;
  note?: string;
}

interface MovedKey {
  from: string;
  to: string;
}

interface BegunNames extends SyncedFiles {
  /** What has another name here now. */
  renamed: KeyChange[];
  /** What is to have another on the server. */
  moves: MovedKey[];
}

interface RenamedKeysParts {
  root: string;
  state: SyncState;
  keys: KeySync;
  wrote?: ((note: SyncedText) => void) | undefined;
}

export class RenamedKeys {
  readonly #parts: RenamedKeysParts;

  constructor(parts: RenamedKeysParts) {
    this.#parts = parts;
  }

  async begin(found: SyncedFiles, server: KeptNames['server']): Promise<BegunNames> {
    const { root, state } = this.#parts;
    this.#setPaths(found);
    const kept: KeptNames = { root, files: found.files, server, agreed: state.agreed() };
    const spelling = new NameSpelling(kept);
    if (spelling.isPlain) return { ...found, renamed: [], moves: [] };
    const names = spelling.newNamesHere();
    const renamed = names.length === 0 ? [] : await this.#deleteGone(kept, spelling);
    for (const { from, to } of names) renameLocal(root, from, to);
    const { files, skipped } = names.length === 0 ? found : await readFolder(root, DEFAULT_LIMITS.value);
    this.#setPaths({ files });
    renamed.push(...this.#renamedHere(kept, spelling, files));
    this.#takeRecords(files, server);
    return { files, skipped, renamed, moves: this.#holdOurs(files, server) };
  }

  #setPaths({ files }: Pick<SyncedFiles, 'files'>): void {
    for (const { key, path } of files.values()) this.#parts.keys.setPath(key, path);
  }

  /** What others have deleted of a folder that they renamed: under the new name nothing would say that it was there. */
  async #deleteGone({ files, server, agreed }: KeptNames, spelling: NameSpelling): Promise<KeyChange[]> {
    const changes: KeyChange[] = [];
    for (const file of files.values()) {
      const to = spelling.of(file.key);
      if (to === file.key || isThere(server, to)) continue;
      const sides = { agreed: agreed.get(file.key) ?? null, server: server.get(file.key) ?? null };
      if (planKey({ ...sides, here: file.checksum }) !== 'delete here') continue;
      const done = await this.#parts.keys.bringTogether(file.key, file, sides);
      if (done !== null && 'change' in done) changes.push({ key: file.key, ...done });
    }
    return changes;
  }

  #renamedHere(before: KeptNames, spelling: NameSpelling, files: KeptNames['files']): KeyChange[] {
    return Array.from(before.files.values()).flatMap(({ key, bytes, checksum }): KeyChange[] => {
      const to = spelling.of(key);
      if (to === key || files.has(key) || !files.has(to) || !isThere(before.server, to)) return [];
      const text = Buffer.from(bytes).toString('utf8');
      const { wrote = () => {} } = this.#parts;
      wrote({ path: key, before: text, after: null });
      // The lines of an edit did not come with the new name.
      if (before.agreed.get(key)?.checksum === checksum) wrote({ path: to, before: null, after: text });
      return [
        { key, change: 'deleted here', note: `it is ${to} now` },
        { key: to, change: 'pulled', note: `it was ${key}` },
      ];
    });
  }

  /** What was agreed on under an old name counts for the new one, so that edits merge. */
  #takeRecords(files: KeptNames['files'], server: KeptNames['server']): void {
    const { root, state } = this.#parts;
    const agreed = state.agreed();
    const spelling = new NameSpelling({ root, files, server, agreed });
    for (const [key, { checksum }] of agreed) {
      const to = spelling.of(key);
      const isOld = checksum !== null && to !== key && !isThere(server, key);
      const isNew = files.has(to) && isThere(server, to) && agreed.get(to)?.checksum == null;
      if (isOld && isNew) state.rename(key, to);
    }
  }

  /** Names that were changed here. Puts their files under the old keys; those without a file are put beside the others. */
  #holdOurs(files: Map<string, LocalFile>, server: KeptNames['server']): MovedKey[] {
    const { root, state, keys } = this.#parts;
    const spelling = new NameSpelling({ root, files, server, agreed: state.agreed() });
    const moves: MovedKey[] = [];
    for (const [from, { deleted }] of server) {
      const to = spelling.of(from);
      if (deleted || to === from || files.has(from)) continue;
      const file = files.get(to);
      files.delete(to);
      if (file !== undefined) files.set(from, { ...file, key: from });
      keys.setPath(from, file?.path ?? keys.pathOf(to));
      moves.push({ from, to });
    }
    return moves;
  }

  /** When the texts agree. `left` are keys that were left out; learns of those that are now. */
  async end(
    moves: readonly MovedKey[],
    server: ReadonlyMap<string, MemoryEntry>,
    left: Map<string, string>,
  ): Promise<KeyChange[]> {
    const agreed = this.#parts.state.agreed();
    const changes: KeyChange[] = [];
    const note = (key: string, done: Done): void => {
      if (done !== null && 'skipped' in done) left.set(key, done.skipped);
      else if (done !== null) changes.push({ key, ...done });
    };
    const gone: MovedKey[] = [];
    for (const move of moves) {
      const known = agreed.get(move.from);
      // Not if it was deleted here.
      if (left.has(move.from) || known === undefined || known.checksum === null) continue;
      const done = await this.#removeThere(move, { ...known, checksum: known.checksum });
      note(done !== null && 'skipped' in done ? move.to : move.from, done);
      if (done !== null && 'change' in done && done.change === 'deleted there') gone.push(move);
    }
    for (const { from, to } of gone) {
      const there = server.get(to) ?? null;
      // Who renames it to a name that was deleted knows that.
      const known = there === null ? null : { etag: there.etag, checksum: null };
      const sides = { agreed: known ?? agreed.get(to) ?? null, server: there };
      note(to, await this.#sendAs(to, from, sides));
    }
    return changes;
  }

  /** Only if its file can be sent under the new name. */
  async #removeThere({ from, to }: MovedKey, agreed: AgreedKey & { checksum: string }): Promise<Done> {
    const { keys } = this.#parts;
    const file = await readLocal(to, keys.pathOf(from), DEFAULT_LIMITS.value);
    if (typeof file === 'string') return { skipped: file };
    const problem = file === null ? null : (newNameProblem(to) ?? secretProblem(file.bytes));
    if (problem !== null) return { skipped: problem };
    // If it has changed there since, the file is that of the old key until the next sync.
    const server = { key: from, version: 0, size: 0, deleted: false, ...agreed };
    return keys.bringTogether(from, null, { agreed, server });
  }

  async #sendAs(key: string, from: string, sides: KnownSides): Promise<Done> {
    const { keys } = this.#parts;
    keys.setPath(key, keys.pathOf(from));
    const file = await readLocal(key, keys.pathOf(key), DEFAULT_LIMITS.value);
    return typeof file === 'string' ? { skipped: file } : keys.bringTogether(key, file, sides);
  }
}

function isThere(server: KeptNames['server'], key: string): boolean {
  return server.get(key)?.deleted === false;
}
