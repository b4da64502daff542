/**
 * The merge queue on disk: which branches are to go where, and the outcome of each. It is in the repository's index,
 * and it is a note, not the truth: what has landed is asked of git, so that a process killed between a ref and this
 * table loses nothing and does nothing twice.
 */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { openIndex } from '../../journal/session-index.ts';
import { inTransaction } from '../../system/sqlite/database.ts';

/**
 * `waiting`: to be merged. `integrated`: merged as `result`, which the target may not hold yet. `landed`: in the
 * target. `nothing`: the target had it. `conflicted`, `failed`: left on its branch for `reason`.
 */
export type MergeState = 'waiting' | 'integrated' | 'landed' | 'nothing' | 'conflicted' | 'failed';

export interface MergeEntry {
  id: number;
  /** The full name of the ref that it goes to. */
  target: string;
  /** As it was named. */
  branch: string;
  /** The commit that the name stood for when it was last looked at. */
  tip: string;
  /** One commit is meant and not what leads to it. */
  isSingle: boolean;
  strategy: string;
  state: MergeState;
  reason: string | null;
  result: string | null;
  /** The check command that `result` has passed; null where none ran on this very commit. */
  checked: string | null;
  queued: number;
  updated: number;
}

export type NewMergeEntry = Pick<MergeEntry, 'target' | 'branch' | 'tip' | 'isSingle' | 'strategy'>;
export type MergeChange = Pick<MergeEntry, 'id'> &
  Partial<Pick<MergeEntry, 'tip' | 'state' | 'reason' | 'result' | 'checked'>>;

export interface MergeEntries extends Disposable {
  /** Enters what is not waiting there already. */
  add(entries: readonly NewMergeEntry[], now: number): void;
  /** In the order in which they were entered. */
  list(target?: string): MergeEntry[];
  /** All of them or none. */
  change(changes: readonly MergeChange[], now: number): void;
  /** What was asked for when the queue of a target last ran: kept for the run that continues it. */
  keepWishes(target: string, wishes: string): void;
  wishes(target: string): string | null;
}

const OPEN = "state IN ('waiting', 'integrated')";

export function openMergeEntries(project: string): MergeEntries {
  const db = openIndex(project);
  return {
    add: (entries, now) =>
      inTransaction(db, () => {
        for (const entry of entries) add(db, entry, now);
      }),
    list: (target) => {
      const rows =
        target === undefined
          ? db.prepare('SELECT * FROM merges ORDER BY id').all()
          : db.prepare('SELECT * FROM merges WHERE target = ? ORDER BY id').all(target);
      return rows.map(entryOf);
    },
    change: (changes, now) =>
      inTransaction(db, () => {
        for (const change of changes) apply(db, change, now);
      }),
    keepWishes: (target, wishes) =>
      void db
        .prepare('INSERT OR REPLACE INTO merge_wishes (target, wishes) VALUES (?, ?)')
        .run(target, wishes),
    wishes: (target) => {
      const row = db.prepare('SELECT wishes FROM merge_wishes WHERE target = ?').get(target);
      return row === undefined ? null : String(row.wishes);
    },
    [Symbol.dispose]: () => db.close(),
  };
}

function add(db: DatabaseSync, entry: NewMergeEntry, now: number): void {
  const { target, branch, tip, isSingle, strategy } = entry;
  const same = db
    .prepare(
      `SELECT id FROM merges WHERE target = ? AND branch = ? AND (state = 'waiting' OR (${OPEN} AND tip = ?))`,
    )
    .get(target, branch, tip);
  if (same !== undefined) {
    db.prepare("UPDATE merges SET tip = ?, strategy = ?, updated = ? WHERE id = ? AND state = 'waiting'").run(
      tip,
      strategy,
      now,
      Number(same.id),
    );
    return;
  }
  db.prepare(
    "INSERT INTO merges (target, branch, tip, single, strategy, state, queued, updated) VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?)",
  ).run(target, branch, tip, isSingle ? 1 : 0, strategy, now, now);
}

function apply(db: DatabaseSync, change: MergeChange, now: number): void {
  const { id, ...fields } = change;
  for (const [name, value] of Object.entries(fields)) {
    // The names are those of `MergeChange`, which the compiler holds.
    if (value !== undefined)
      db.prepare(`UPDATE merges SET ${name} = ?, updated = ? WHERE id = ?`).run(value, now, id);
  }
}

function entryOf(row: Record<string, SQLOutputValue>): MergeEntry {
  return {
    id: Number(row.id),
    target: String(row.target),
    branch: String(row.branch),
    tip: String(row.tip),
    isSingle: row.single === 1,
    strategy: String(row.strategy),
    // Only this file writes the column, from a MergeState.
    state: String(row.state) as MergeState,
    reason: row.reason === null ? null : String(row.reason),
    result: row.result === null ? null : String(row.result),
    checked: row.checked === null ? null : String(row.checked),
    queued: Number(row.queued),
    updated: Number(row.updated),
  };
}
