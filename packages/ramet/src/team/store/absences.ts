/**
 * When members were not there (TEAM-4): from the request to end, or from their end, until the team is reopened. What is sent to
 * everybody meanwhile is not for them: it never wakes them. What was sent before stays for them.
 */
import type { TeamDatabase } from './team-database.ts';

/** The number of the last message, also of one that is no longer kept. */
const LAST = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0)";

/** Of a row of `messages`: the member was not there when it was sent. The arguments are SQL. */
export function missedBy(team: string, key: string): string {
  return `EXISTS (SELECT 1 FROM absences WHERE absences.team = ${team} AND absences.key = ${key}
    AND messages.seq > absences.since AND (absences.until IS NULL OR messages.seq <= absences.until))`;
}

/** Two counts, each of a range of an index. */
export const UNREAD: string = `
  ((SELECT count(*) FROM messages WHERE messages.team = members.team AND receiver = members.key AND seq > members.cursor)
  + (SELECT count(*) FROM messages WHERE messages.team = members.team AND receiver = '*' AND seq > members.cursor
      AND sender IS NOT members.key AND NOT ${missedBy('members.team', 'members.key')}))`;

/** Where a message to everybody that has this number or a smaller one has been read by all that it is for. */
export const READ_BY_ALL = `(SELECT min(members.cursor) FROM members WHERE team = ?1 AND NOT EXISTS (
    SELECT 1 FROM absences WHERE absences.team = ?1 AND absences.key = members.key AND until IS NULL AND since <= members.cursor))`;

/** Inside a transaction, all of them. */
export class Absences {
  readonly #db: TeamDatabase;
  readonly #team: number;

  constructor(db: TeamDatabase, team: number) {
    [this.#db, this.#team] = [db, team];
  }

  /** One that is away already stays so. */
  begin(key: string): void {
    this.#skipRead('key = ?', key);
    this.#db.row(
      `INSERT INTO absences (team, key, since) SELECT ?1, ?2, ${LAST} WHERE NOT EXISTS
        (SELECT 1 FROM absences WHERE team = ?1 AND key = ?2 AND until IS NULL)`,
      ...[this.#team, key],
    );
  }

  /** Of all members. */
  end(): void {
    this.#db.row(`UPDATE absences SET until = ${LAST} WHERE team = ? AND until IS NULL`, this.#team);
    this.#skipRead('key IN (SELECT key FROM absences WHERE absences.team = members.team)');
    this.#db.row(
      `DELETE FROM absences WHERE team = ?1 AND (since = until OR until <=
        (SELECT cursor FROM members WHERE members.team = ?1 AND members.key = absences.key))`,
      this.#team,
    );
  }

  /** Whom nothing waits for has read everything until now: what is for others holds up nothing. */
  #skipRead(which: string, ...values: readonly string[]): void {
    this.#db.row(
      `UPDATE members SET cursor = max(cursor, ${LAST}) WHERE team = ? AND ${which} AND ${UNREAD} = 0`,
      ...[this.#team, ...values],
    );
  }
}
