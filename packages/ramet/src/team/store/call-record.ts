/**
 * What calls of members have done to the record, under the ids of the calls: a call that a kill cut off is made again, and
 * finds what it did. Only the last calls of each member can be made again, so old ones are pruned: those of this team, since
 * another may not have been resumed for long.
 */
import type { TeamDatabase } from './team-database.ts';

const PRUNE_EVERY = 500;
const KEPT = 5_000;

export class CallRecord {
  readonly #db: TeamDatabase;
  readonly #team: number;

  constructor(db: TeamDatabase, team: number) {
    this.#db = db;
    this.#team = team;
  }

  /** What `change` returns, now or when the same call made it; the change and its outcome are one transaction. */
  once<Outcome>(call: string, change: () => Outcome): Outcome {
    return this.#db.write('synced', () => {
      const sql = 'SELECT outcome FROM calls WHERE team = ? AND call = ?';
      const earlier = this.#db.row(sql, this.#team, call);
      // This call wrote it: nobody else uses its id.
      if (earlier !== undefined) return JSON.parse(String(earlier.outcome)) as Outcome;
      const outcome = change();
      const insert = 'INSERT INTO calls (team, call, outcome) VALUES (?, ?, ?) RETURNING seq';
      const seq = Number(this.#db.row(insert, this.#team, call, JSON.stringify(outcome))?.seq);
      if (seq % PRUNE_EVERY === 0) this.#prune();
      return outcome;
    });
  }

  #prune(): void {
    const last = 'SELECT seq FROM calls WHERE team = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2';
    this.#db.row(`DELETE FROM calls WHERE team = ?1 AND seq <= (${last})`, this.#team, KEPT);
  }

  /** Whether this is the first time that the call is made. */
  isFirst(call: string): boolean {
    let isFirst = false;
    this.once(call, () => {
      isFirst = true;
      return null;
    });
    return isFirst;
  }
}
