/**
 * The tasks of a team.
 *
 * Invariants
 * 1. A task has one owner: claiming is one statement that finds the task free and takes it.
 * 2. `blockers` is the number of tasks in `task_needs` that are not completed, and there is no cycle among them.
 * 3. A claim names the process that made it. Clocks decide nothing.
 */
import type { TaskChange, TeamTask } from '../../schema/team.ts';
import { isProcessAlive, type ProcessIdentity } from '../../system/processes/process-identity.ts';
import { claimProblem, endProblem, rightTo, textProblem, whoToWake } from '../rules/task-rules.ts';
import { identityFrom, isSame, type Problem, type Roster, textOf } from './roster.ts';
import { TaskChecks } from './task-checks.ts';
import type { EndedTeamTask, NewTask, TaskClaim, TaskEdit, TeamTaskEnd } from './task-orders.ts';
import { PROPOSED, TaskTable } from './task-table.ts';
import type { TeamDatabase, TeamRow } from './team-database.ts';

const MOST_TASKS = 200_000;

export class TeamTaskList {
  readonly #db: TeamDatabase;
  readonly #team: number;
  readonly #roster: Roster;
  readonly #table: TaskTable;
  readonly #checks: TaskChecks;

  constructor(db: TeamDatabase, team: number, roster: Roster, now: () => number) {
    this.#db = db;
    this.#team = team;
    this.#roster = roster;
    this.#table = new TaskTable(db, team, now);
    this.#checks = new TaskChecks(this.#table, roster);
  }

  create(by: string, task: NewTask): { task: TeamTask } | Problem {
    const { subject, description, needs = [], owner, isProposed } = task;
    const bad = textProblem({ subject, description }) ?? this.#checks.ownerProblem(owner);
    if (bad !== null) return { problem: bad };
    return this.#db.write('synced', () => {
      const number = 1 + this.#table.lastNumber();
      if (number > MOST_TASKS)
        return { problem: `this team has ${MOST_TASKS} tasks, and no more are allowed` };
      const missing = this.#checks.missing(needs);
      if (missing !== null) return { problem: missing };
      const status = isProposed === true ? PROPOSED : 'pending';
      this.#table.insert({ number, subject, description, status, owner: owner ?? null, createdBy: by });
      this.#table.addNeeds(number, needs);
      return { task: { ...this.#table.get(number), status: 'pending' } };
    });
  }

  /** Whether it is not on the list yet: nobody sees it, claims it or needs it before it is accepted. */
  isProposed(number: number): boolean {
    return this.#table.isProposed(number);
  }

  accept(number: number): void {
    this.#db.write('synced', () => this.#table.accept(number));
  }

  /** It never comes on the list. */
  refuse(number: number, by: string): void {
    this.#db.write('synced', () => {
      if (!this.#table.isProposed(number)) return;
      const { subject } = this.#table.get(number);
      this.#table.remove(number);
      this.#table.note(number, by, 'removed', subject);
    });
  }

  find(number: number): TeamTask | undefined {
    return this.#table.find(number);
  }

  all(): TeamTask[] {
    return this.#table.all();
  }

  /** What can be claimed now by `by`, or by anybody. */
  free(by: string | null = null): number[] {
    const sql = `SELECT number FROM tasks WHERE team = ? AND status = 'pending' AND blockers = 0
      AND (owner IS NULL OR owner = ?) ORDER BY number`;
    return this.#db.rows(sql, this.#team, by).map(({ number }) => Number(number));
  }

  /** What can be claimed now, with whom it is for. */
  allFree(): Pick<TeamTask, 'number' | 'owner' | 'note'>[] {
    const sql = `SELECT number, owner, note FROM tasks WHERE team = ? AND status = 'pending' AND blockers = 0 ORDER BY number`;
    const found = this.#db.rows(sql, this.#team);
    return found.map(({ number, owner, note }) => ({
      ...{ number: Number(number), owner: textOf(owner), note: textOf(note) },
    }));
  }

  /**
   * Takes this task, or says why not. A claim of a dead process does not count. To claim a task again changes nothing, so a
   * call that a kill cut off is simply made again.
   */
  claim(number: number, by: string, claim: TaskClaim): { task: TeamTask } | Problem {
    const taken = this.#take(number, by, claim);
    if (taken !== null) return { task: taken };
    const again = this.#releaseIfDead(number, by, claim) ? this.#take(number, by, claim) : null;
    if (again !== null) return { task: again };
    const task = this.find(number);
    if (task === undefined) return { problem: this.#checks.unknown(number) };
    if (task.status === 'in_progress' && task.owner === by) return { task };
    // It was taken and given back between the two statements.
    return { problem: claimProblem(task, by) ?? `task ${number} was taken: try again` };
  }

  #take(number: number, by: string, { pid, started, position }: TaskClaim): TeamTask | null {
    const isTaken = this.#db.changesSynced(
      `UPDATE tasks SET status = 'in_progress', owner = ?, claim_pid = ?, claim_started = ?, claim_position = ?, note = NULL
       WHERE team = ? AND number = ? AND status = 'pending' AND blockers = 0 AND (owner IS NULL OR owner = ?)`,
      ...[by, pid, started, position ?? null, this.#team, number, by],
    );
    return isTaken ? this.#table.claimed(number, by) : null;
  }

  #releaseIfDead(number: number, by: string, { isAlive }: TaskClaim): boolean {
    const sql = `SELECT claim_pid, claim_started FROM tasks WHERE team = ? AND number = ? AND status = 'in_progress'`;
    const row = this.#db.row(sql, this.#team, number);
    const holder = identityFrom(row?.claim_pid, row?.claim_started);
    if (holder === null || (isAlive ?? isProcessAlive)(holder)) return false;
    return this.releaseDead(by, isAlive).released.some((task) => task.number === number);
  }

  /** What a member has claimed and not ended. */
  heldBy(owner: string): number[] {
    const sql = `SELECT number FROM tasks WHERE team = ? AND status = 'in_progress' AND owner = ? ORDER BY number`;
    return this.#db.rows(sql, this.#team, owner).map(({ number }) => Number(number));
  }

  /** Where its owner's conversation was when it claimed the task. */
  positionOf(number: number): number {
    const sql = 'SELECT claim_position FROM tasks WHERE team = ? AND number = ?';
    return Number(this.#db.row(sql, this.#team, number)?.claim_position ?? 0);
  }

  /** A task that `by` may end as it is now; null for any other. */
  endable(number: number, by: string): TeamTask | null {
    const task = this.find(number);
    if (task === undefined || endProblem(task) !== null) return null;
    return 'problem' in rightTo('end', task, by) ? null : task;
  }

  end(number: number, by: string, { status, evidence, proof, note }: TeamTaskEnd): EndedTeamTask | Problem {
    return this.#changing('end', number, by, (task) => {
      const problem = endProblem(task) ?? textProblem({ evidence, note });
      if (problem !== null) return { problem };
      this.#db.row(
        `UPDATE tasks SET status = ?, evidence = ?, proof = ?, note = ?, claim_pid = NULL, claim_started = NULL
         WHERE team = ? AND number = ?`,
        ...[status, evidence ?? null, proof === undefined ? null : JSON.stringify(proof), note ?? null],
        ...[this.#team, number],
      );
      const freed = status === 'completed' ? this.#table.unblock(number) : [];
      return { task: this.#table.get(number), freed, wake: whoToWake(freed, this.#roster.members()) };
    });
  }

  edit(number: number, by: string, edit: TaskEdit): { task: TeamTask } | Problem {
    const bad = textProblem(edit) ?? this.#checks.ownerProblem(edit.owner ?? undefined);
    if (bad !== null) return { problem: bad };
    return this.#changing('change', number, by, (task) => {
      const { subject = task.subject, description = task.description, addNeeds = [], owner } = edit;
      if (owner !== undefined && task.status !== 'pending') {
        return { problem: `task ${number} is ${task.status}: only pending tasks change their owner` };
      }
      const wrong = this.#checks.missing(addNeeds) ?? this.#checks.cycle(task, addNeeds);
      if (wrong !== null) return { problem: wrong };
      this.#db.row(
        'UPDATE tasks SET subject = ?, description = ?, owner = ? WHERE team = ? AND number = ?',
        ...[subject, description, owner === undefined ? task.owner : owner, this.#team, number],
      );
      this.#table.addNeeds(number, addNeeds);
      return { task: this.#table.get(number) };
    });
  }

  /** Gives up a claim, or puts a failed task back: it is pending again, for everybody. */
  release(number: number, by: string, note: string): { task: TeamTask; wake: string[] } | Problem {
    return this.#changing('release', number, by, (task) => {
      const isHeld = task.status === 'in_progress' || task.status === 'failed';
      const unheld = isHeld ? null : `task ${number} is ${task.status}: there is no claim to release`;
      const problem = unheld ?? textProblem({ note });
      if (problem !== null) return { problem };
      this.#table.putBack(number, note);
      if (task.status === 'failed') this.#table.note(number, by, 'retried', note);
      const freed = this.#table.get(number);
      return { task: freed, wake: whoToWake([freed], this.#roster.members()) };
    });
  }

  /** The claims of a member pass to the process that hosts it now. */
  adopt(owner: string, process: ProcessIdentity): void {
    const sql = `UPDATE tasks SET claim_pid = ?, claim_started = ? WHERE team = ? AND owner = ? AND status = 'in_progress'`;
    this.#db.change(sql, process.pid, process.started, this.#team, owner);
  }

  /** Releases what a member that has ended had claimed. */
  releaseOf(owner: string, why: string): { released: TeamTask[]; wake: string[] } {
    return this.#db.write('written', () => this.#releaseWhere(owner, (row) => row.owner === owner, why));
  }

  /** Releases the claims of processes that are dead. */
  releaseDead(
    by: string,
    isAlive: (process: ProcessIdentity) => boolean = isProcessAlive,
  ): { released: TeamTask[]; wake: string[] } {
    const claimed = this.#claims();
    const dead = claimed.filter((each) => !isAlive(each));
    if (dead.length === 0) return { released: [], wake: [] };
    return this.#db.write('written', () => {
      const isDead = (row: TeamRow): boolean => {
        const claim = identityFrom(row.claim_pid, row.claim_started);
        return claim !== null && dead.some((each) => isSame(each, claim));
      };
      return this.#releaseWhere(by, isDead, 'the process that had claimed it has ended');
    });
  }

  #claims(): ProcessIdentity[] {
    const sql = `SELECT DISTINCT claim_pid, claim_started FROM tasks WHERE team = ? AND status = 'in_progress'`;
    const found = this.#db.rows(sql, this.#team);
    return found.flatMap((row) => identityFrom(row.claim_pid, row.claim_started) ?? []);
  }

  #releaseWhere(
    by: string,
    wanted: (row: TeamRow) => boolean,
    why: string,
  ): { released: TeamTask[]; wake: string[] } {
    const rows = this.#db.rows("SELECT * FROM tasks WHERE team = ? AND status = 'in_progress'", this.#team);
    const released = rows.filter(wanted).map((row) => {
      const number = Number(row.number);
      this.#table.putBack(number, why);
      this.#table.note(number, by, 'released', `${textOf(row.owner)}: ${why}`);
      return this.#table.get(number);
    });
    return { released, wake: whoToWake(released, this.#roster.members()) };
  }

  changes(): TaskChange[] {
    return this.#table.changes();
  }

  /** A change that only the owner, the maker or the lead may make; the lead's is noted. */
  #changing<Result>(
    what: string,
    number: number,
    by: string,
    change: (task: TeamTask) => Result | Problem,
  ): Result | Problem {
    return this.#db.write('synced', () => {
      const task = this.find(number);
      if (task === undefined) return { problem: this.#checks.unknown(number) };
      const right = rightTo(what, task, by);
      if ('problem' in right) return right;
      const result = change(task);
      const isDone = !(typeof result === 'object' && result !== null && 'problem' in result);
      if (right.override && isDone)
        this.#table.note(number, by, 'overridden', `${what}; it was ${task.owner}'s`);
      return result;
    });
  }
}
