/** The rows of a team's tasks and of what they need. Which change is allowed is decided in `task-list.ts`. */
import type { TaskChange, TaskProof, TeamTask, TeamTaskState } from '../../schema/team.ts';
import { textOf } from './roster.ts';
import type { TeamDatabase, TeamRow } from './team-database.ts';

/** What a task needs, as a column of its row. */
const NEEDS = `(SELECT group_concat(needs) FROM task_needs AS edge
  WHERE edge.team = tasks.team AND edge.task = tasks.number) AS needs`;

/** The status in the row of a task that is not on the list yet. */
export const PROPOSED = 'proposed';

interface NewRow extends Pick<TeamTask, 'number' | 'subject' | 'description' | 'owner' | 'createdBy'> {
  status: 'pending' | typeof PROPOSED;
}

export class TaskTable {
  readonly #db: TeamDatabase;
  readonly #team: number;
  readonly #now: () => number;

  constructor(db: TeamDatabase, team: number, now: () => number) {
    this.#db = db;
    this.#team = team;
    this.#now = now;
  }

  find(number: number): TeamTask | undefined {
    const row = this.#row(number);
    return row === undefined || row.status === PROPOSED ? undefined : this.taskFrom(row);
  }

  /** One that is known to exist, also where it is not on the list yet. */
  get(number: number): TeamTask {
    const row = this.#row(number);
    if (row === undefined) throw new Error(`task ${number} was there a moment ago`);
    return this.taskFrom(row);
  }

  isProposed(number: number): boolean {
    return this.#row(number)?.status === PROPOSED;
  }

  accept(number: number): void {
    const sql = `UPDATE tasks SET status = 'pending' WHERE team = ? AND number = ? AND status = ?`;
    this.#db.row(sql, this.#team, number, PROPOSED);
  }

  #row(number: number): TeamRow | undefined {
    return this.#db.row('SELECT * FROM tasks WHERE team = ? AND number = ?', this.#team, number);
  }

  all(): TeamTask[] {
    const needs = new Map<number, number[]>();
    const edges = this.#db.rows(
      'SELECT task, needs FROM task_needs WHERE team = ? ORDER BY needs',
      this.#team,
    );
    for (const { task, needs: needed } of edges) {
      needs.set(Number(task), [...(needs.get(Number(task)) ?? []), Number(needed)]);
    }
    const sql = 'SELECT * FROM tasks WHERE team = ? AND status <> ? ORDER BY number';
    const rows = this.#db.rows(sql, this.#team, PROPOSED);
    const completed = new Set(
      rows.flatMap((row) => (row.status === 'completed' ? [Number(row.number)] : [])),
    );
    return rows.map((row) => {
      const all = needs.get(Number(row.number)) ?? [];
      return taskOf(
        row,
        all,
        all.filter((each) => !completed.has(each)),
      );
    });
  }

  /** Also of a task that was removed: a number means one task for ever. */
  lastNumber(): number {
    const sql = `SELECT max(coalesce((SELECT max(number) FROM tasks WHERE team = ?1), 0),
      coalesce((SELECT max(task) FROM task_changes WHERE team = ?1), 0)) AS last`;
    return Number(this.#db.row(sql, this.#team)?.last);
  }

  insert({ number, subject, description, status, owner, createdBy }: NewRow): void {
    this.#db.row(
      `INSERT INTO tasks (team, number, subject, description, status, blockers, owner, created_by)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
      ...[this.#team, number, subject, description, status, owner, createdBy],
    );
  }

  remove(number: number): void {
    this.#db.row('DELETE FROM tasks WHERE team = ? AND number = ?', this.#team, number);
    this.#db.row('DELETE FROM task_needs WHERE team = ? AND task = ?', this.#team, number);
  }

  putBack(number: number, note: string): void {
    this.#db.row(
      `UPDATE tasks SET status = 'pending', owner = NULL, claim_pid = NULL, claim_started = NULL, note = ?,
       evidence = NULL, proof = NULL WHERE team = ? AND number = ?`,
      ...[note, this.#team, number],
    );
  }

  /** The tasks that are free now that this one is completed. */
  unblock(number: number): TeamTask[] {
    const dependents = this.dependents(number);
    for (const each of dependents) {
      this.#db.row(
        'UPDATE tasks SET blockers = blockers - 1 WHERE team = ? AND number = ?',
        this.#team,
        each,
      );
    }
    const found = dependents.map((each) => this.get(each));
    return found.filter(({ status, blockedBy }) => status === 'pending' && blockedBy.length === 0);
  }

  addNeeds(task: number, needs: readonly number[]): void {
    for (const each of needs) {
      const sql = 'INSERT OR IGNORE INTO task_needs (team, task, needs) VALUES (?, ?, ?)';
      this.#db.row(sql, this.#team, task, each);
    }
    this.#db.row(
      `UPDATE tasks SET blockers = (SELECT count(*) FROM task_needs JOIN tasks AS needed
         ON needed.team = task_needs.team AND needed.number = task_needs.needs AND needed.status <> 'completed'
         WHERE task_needs.team = ?1 AND task_needs.task = ?2) WHERE team = ?1 AND number = ?2`,
      ...[this.#team, task],
    );
  }

  dependents(number: number): number[] {
    const sql = 'SELECT task FROM task_needs WHERE team = ? AND needs = ? ORDER BY task';
    return this.#db.rows(sql, this.#team, number).map(({ task }) => Number(task));
  }

  needsOf(number: number): number[] {
    const sql = 'SELECT needs FROM task_needs WHERE team = ? AND task = ? ORDER BY needs';
    return this.#db.rows(sql, this.#team, number).map(({ needs }) => Number(needs));
  }

  note(task: number, by: string, what: TaskChange['what'], detail: string): void {
    this.#db.row(
      'INSERT INTO task_changes (team, task, by, what, detail, time) VALUES (?, ?, ?, ?, ?, ?)',
      ...[this.#team, task, by, what, detail, this.#now()],
    );
  }

  changes(): TaskChange[] {
    const rows = this.#db.rows('SELECT * FROM task_changes WHERE team = ? ORDER BY seq', this.#team);
    return rows.map((row) => ({
      task: Number(row.task),
      by: String(row.by),
      // The column holds nothing else: only this file writes it.
      what: String(row.what) as TaskChange['what'],
      detail: String(row.detail),
    }));
  }

  /** As `by` has claimed it, whatever the lead has done with it since; null if it was removed. */
  claimed(number: number, by: string): TeamTask | null {
    const row = this.#db.row(
      `SELECT number, subject, description, created_by, evidence, proof, ${NEEDS} FROM tasks WHERE team = ? AND number = ?`,
      ...[this.#team, number],
    );
    if (row === undefined) return null;
    const needs = (textOf(row.needs) ?? '').split(',').filter(Boolean).map(Number);
    return taskOf(
      { ...row, status: 'in_progress', owner: by, note: null },
      needs.sort((a, b) => a - b),
      [],
    );
  }

  taskFrom(row: TeamRow): TeamTask {
    const needs = this.needsOf(Number(row.number));
    return taskOf(
      row,
      needs,
      Number(row.blockers) === 0 ? [] : needs.filter((each) => !this.#isCompleted(each)),
    );
  }

  #isCompleted(number: number): boolean {
    const sql = 'SELECT status FROM tasks WHERE team = ? AND number = ?';
    return this.#db.row(sql, this.#team, number)?.status === 'completed';
  }
}

function taskOf(row: TeamRow, needs: number[], blockedBy: number[]): TeamTask {
  return {
    number: Number(row.number),
    subject: String(row.subject),
    description: String(row.description),
    // The column holds nothing else: only `task-list.ts` and this file write it.
    status: String(row.status) as TeamTaskState,
    owner: textOf(row.owner),
    createdBy: String(row.created_by),
    needs,
    blockedBy,
    evidence: textOf(row.evidence),
    // Only `task-list.ts` writes it, from the same shape.
    proof: row.proof == null ? null : (JSON.parse(String(row.proof)) as TaskProof),
    note: textOf(row.note),
  };
}
