/**
 * Which worktrees Ramet answers for: a table in the repository's index. A row is written before the disk is touched
 * and tells of every half-made state, so that what a killed process left is found and finished or undone.
 *
 * Invariants
 * 1. A name and a path belong to one living row; a row changes hands only in one transaction.
 * 2. The file is held open, unlike by sessions: opening it costs more than a claim may.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { indexPath, openNewest, unusableIndex } from '../../journal/session-index.ts';
import { JournalError } from '../../schema/errors.ts';
import { diskTroubleAt } from '../../system/disk-trouble.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { inTransaction } from '../../system/sqlite/database.ts';
import { openInMemory } from '../../system/sqlite/memory-copy.ts';
import { isDamaged, needsRoomBeside } from '../../system/sqlite/sqlite-failure.ts';
import type { ManagedWorktree, WorktreeFacts, WorktreeState } from './worktree.ts';

const BUSY_TIMEOUT_MS = 10_000;
const COLUMNS =
  'id, name, path, branch, base, state, session, agent, pid, started, slot, admin, created, changed, facts';

function rowsOf(db: DatabaseSync): ManagedWorktree[] {
  return db.prepare(`SELECT ${COLUMNS} FROM worktrees ORDER BY created, id`).all().map(worktreeOf);
}

export class WorktreeRegistry implements Disposable {
  readonly #file: string;
  readonly #project: string;
  #db: DatabaseSync | null = null;

  constructor(project: string) {
    this.#project = project;
    this.#file = indexPath(project);
  }

  /** All rows, the oldest first; none when there is no index yet. */
  list(): ManagedWorktree[] {
    if (this.#db === null && !existsSync(this.#file)) return [];
    return this.#reading(rowsOf);
  }

  find(id: string): ManagedWorktree | null {
    const select = `SELECT ${COLUMNS} FROM worktrees WHERE id = ?`;
    const row = this.#reading((db) => db.prepare(select).get(id));
    return row === undefined ? null : worktreeOf(row);
  }

  /** In a home that cannot be written it can still be read. */
  #reading<Result>(read: (db: DatabaseSync) => Result): Result {
    if (this.#db === null && isShortOfRoom(this.#file)) {
      using db = openInMemory(this.#file);
      return read(db);
    }
    try {
      return read(this.#open());
    } catch (error) {
      if (!needsRoomBeside(error) || this.#db?.isTransaction) throw error;
      using db = this.#copy(error);
      return read(db);
    }
  }

  #copy(reason: unknown): DatabaseSync {
    try {
      return openInMemory(this.#file);
    } catch {
      throw reason;
    }
  }

  /** Several reads and writes as one. */
  transact<Result>(work: () => Result): Result {
    return inTransaction(this.#open(), work);
  }

  put(worktree: ManagedWorktree): void {
    const { id, name, path, branch, base, state, owner, lease, slot, admin, created, changed, facts } =
      worktree;
    const places = COLUMNS.replace(/\w+/g, '?');
    this.#open()
      .prepare(`INSERT OR REPLACE INTO worktrees (${COLUMNS}) VALUES (${places})`)
      .run(
        ...[id, name, path, branch, base, state, owner?.session ?? null, owner?.agent ?? null],
        ...[lease?.pid ?? null, lease?.started ?? null, slot, admin, created, changed, JSON.stringify(facts)],
      );
  }

  /** Changes a row that is still in one of the states given; null when another process was faster. */
  change(
    id: string,
    from: readonly WorktreeState[],
    changes: Partial<Omit<ManagedWorktree, 'id'>>,
  ): ManagedWorktree | null {
    return this.#changeIf(id, ({ state }) => from.includes(state), changes);
  }

  /** Changes a row that nobody has taken, given back or changed since it was read as `seen`. */
  changeSeen(seen: ManagedWorktree, changes: Partial<Omit<ManagedWorktree, 'id'>>): ManagedWorktree | null {
    const isSame = (row: ManagedWorktree): boolean =>
      row.state === seen.state && row.changed === seen.changed && row.lease?.pid === seen.lease?.pid;
    return this.#changeIf(seen.id, isSame, changes);
  }

  #changeIf(
    id: string,
    mayChange: (current: ManagedWorktree) => boolean,
    changes: Partial<Omit<ManagedWorktree, 'id'>>,
  ): ManagedWorktree | null {
    return this.transact(() => {
      const current = this.find(id);
      if (current === null || !mayChange(current)) return null;
      const changed = { ...current, ...changes };
      this.put(changed);
      return changed;
    });
  }

  forget(id: string): void {
    this.#open().prepare('DELETE FROM worktrees WHERE id = ?').run(id);
  }

  [Symbol.dispose](): void {
    this.#db?.close();
    this.#db = null;
  }

  #open(): DatabaseSync {
    if (this.#db !== null) return this.#db;
    makePrivateDirectory(this.#project);
    try {
      this.#db = openNewest(this.#file, () => this.#connect());
      return this.#db;
    } catch (error) {
      throw isDamaged(error) ? damagedIndex(this.#file, error) : error;
    }
  }

  #connect(): DatabaseSync {
    try {
      return new DatabaseSync(this.#file, { timeout: BUSY_TIMEOUT_MS });
    } catch (error) {
      throw unusableIndex(this.#file, error);
    }
  }
}

/** SQLite would begin two files beside it, find no room for them and leave them behind. */
function isShortOfRoom(file: string): boolean {
  const trouble = diskTroubleAt(file);
  return existsSync(file) && (trouble === 'full' || trouble === 'read-only');
}

function damagedIndex(file: string, cause: unknown): JournalError {
  const message = `the list of worktrees in ${file} is damaged: start a session, which begins a new list (sessions, worktrees and branches stay)`;
  return new JournalError('index_unusable', 'terminal', message, { cause });
}

function worktreeOf(row: Record<string, SQLOutputValue>): ManagedWorktree {
  const text = (value: SQLOutputValue | undefined): string | null => (value == null ? null : String(value));
  const [session, agent] = [text(row.session), text(row.agent)];
  return {
    id: String(row.id),
    name: String(row.name),
    path: String(row.path),
    branch: text(row.branch),
    base: String(row.base),
    // Only `put` writes these two, from a ManagedWorktree.
    state: String(row.state) as WorktreeState,
    facts: JSON.parse(String(row.facts)) as WorktreeFacts, // as above
    owner: session === null || agent === null ? null : { session, agent },
    lease: row.pid === null ? null : { pid: Number(row.pid), started: text(row.started) },
    slot: Number(row.slot),
    admin: String(row.admin),
    created: Number(row.created),
    changed: Number(row.changed),
  };
}
