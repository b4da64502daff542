/** Who is in a team, as the database has it. The roster owns its members: who talks to one does not become its parent. */
import type { AgentId } from '../../schema/ids.ts';
import { LEAD, type MemberState, type PlanState, type TeamMember } from '../../schema/team.ts';
import { isProcessAlive, type ProcessIdentity } from '../../system/processes/process-identity.ts';
import { keyOf, nameProblem } from '../rules/team-names.ts';
import { Absences, UNREAD } from './absences.ts';
import type { TeamDatabase, TeamRow } from './team-database.ts';

export interface NewMember {
  name: string;
  type: string;
  agent: AgentId | null;
  plan?: PlanState | undefined;
}

/** What was not done, and why. One line, for a model or a person. */
export interface Problem {
  problem: string;
}

export class Roster {
  readonly #db: TeamDatabase;
  readonly #team: number;
  readonly #absences: Absences;

  constructor(db: TeamDatabase, team: number) {
    this.#db = db;
    this.#team = team;
    this.#absences = new Absences(db, team);
  }

  /**
   * It receives what is sent from now on. A name stays its holder's, also of one that was stopped; only one that has no
   * agent yet gets the one that is given.
   */
  add({ name, type, agent, plan }: NewMember): Problem | null {
    const bad = nameProblem(name, 'member');
    if (bad !== null) return { problem: bad };
    return this.#db.write('synced', () => {
      const holder = this.find(name);
      const waits = holder?.agent === null && agent !== null;
      // An agent of another spelling would not be found under the member's name.
      if (waits && holder.name !== name)
        return {
          problem: `this team has a member "${holder.name}" that waits for its task: spell its name so`,
        };
      if (waits) {
        this.#db.row(
          'UPDATE members SET agent = ?, type = ?, plan = ? WHERE team = ? AND key = ?',
          ...[agent, type, plan ?? null, this.#team, keyOf(name)],
        );
        return null;
      }
      if (holder !== undefined) {
        return { problem: `this team has a member "${holder.name}" (${holder.state}): choose another name` };
      }
      this.insert({ name, type, agent, plan });
      return null;
    });
  }

  /** Inside a transaction; the name has been checked. */
  insert({ name, type, agent, plan }: NewMember): void {
    this.#db.row(
      `INSERT INTO members (team, key, name, agent, type, state, plan, cursor)
       VALUES (?, ?, ?, ?, ?, 'idle', ?, (SELECT coalesce(max(seq), 0) FROM messages))`,
      ...[this.#team, keyOf(name), name, agent, type, plan ?? null],
    );
  }

  /** One that never began. */
  remove(name: string): void {
    this.#db.change('DELETE FROM members WHERE team = ? AND key = ?', this.#team, keyOf(name));
  }

  find(name: string): TeamMember | undefined {
    const sql = `SELECT *, ${UNREAD} AS unread FROM members WHERE team = ? AND key = ?`;
    const row = this.#db.row(sql, this.#team, keyOf(name));
    return row && memberFrom(row);
  }

  /** The lead first, the others in the order of their names. */
  members(): TeamMember[] {
    const sql = `SELECT *, ${UNREAD} AS unread FROM members WHERE team = ? ORDER BY key <> ?, key`;
    return this.#db.rows(sql, this.#team, LEAD).map(memberFrom);
  }

  /** Those for whom something may wait: messages, or their end. Only these are counted for, so thousands may idle. */
  pending(): TeamMember[] {
    const sql = `SELECT *, ${UNREAD} AS unread FROM members WHERE team = ?1 AND (state = 'stopping'
      OR key IN (SELECT receiver FROM messages WHERE messages.team = ?1)
      OR cursor < (SELECT max(seq) FROM messages WHERE messages.team = ?1 AND receiver = '*'))
      ORDER BY key <> ?2, key`;
    const found = this.#db.rows(sql, this.#team, LEAD).map(memberFrom);
    return found.filter(({ state, unread }) => state === 'stopping' || unread > 0);
  }

  /** Those who can be written to: who is to stop reads nothing more. */
  names(): string[] {
    const sql =
      "SELECT name FROM members WHERE team = ? AND state NOT IN ('stopping', 'stopped') ORDER BY key <> ?, key";
    return this.#db.rows(sql, this.#team, LEAD).map(({ name }) => String(name));
  }

  /** Null: it has not begun after all. */
  setAgent(name: string, agent: AgentId | null): void {
    this.#db.write('synced', () =>
      this.#db.row('UPDATE members SET agent = ? WHERE team = ? AND key = ?', agent, this.#team, keyOf(name)),
    );
  }

  /** False for one that was stopped: it stays so until it is resumed. */
  setState(name: string, state: MemberState): boolean {
    const sql = `UPDATE members SET state = ? WHERE team = ? AND key = ? AND state <> 'stopped' RETURNING key`;
    return this.#db.write('written', () => {
      if (state === 'stopping' || state === 'stopped') this.#absences.begin(keyOf(name));
      return this.#db.row(sql, state, this.#team, keyOf(name)) !== undefined;
    });
  }

  /** Asks members to shut down, or all of them; returns whom. The lead is no such member. */
  askToStop(name: string | null): string[] {
    const sql = `UPDATE members SET state = 'stopping' WHERE team = ? AND key <> ? AND state <> 'stopped'
      AND key = coalesce(?, key) RETURNING name, key`;
    return this.#db.write('synced', () => {
      const asked = this.#db.rows(sql, this.#team, LEAD, name === null ? null : keyOf(name));
      for (const { key } of asked) this.#absences.begin(String(key));
      return asked.map((row) => String(row.name));
    });
  }

  /** Members that are not stopped, without the lead. */
  get count(): number {
    const sql = "SELECT count(*) AS count FROM members WHERE team = ? AND key <> ? AND state <> 'stopped'";
    return Number(this.#db.row(sql, this.#team, LEAD)?.count);
  }

  /** A stopped team begins again. */
  reopen(): void {
    const sql = "UPDATE members SET state = 'idle' WHERE team = ? AND state IN ('stopping', 'stopped')";
    this.#db.write('written', () => {
      this.#absences.end();
      this.#db.row(sql, this.#team);
    });
  }

  /** Makes this process the only host of the team; says who hosts it otherwise. */
  host(by: ProcessIdentity, isAlive: (process: ProcessIdentity) => boolean = isProcessAlive): Problem | null {
    return this.#db.write('synced', () => {
      const other = this.hostNow();
      if (other !== null && !isSame(other, by) && isAlive(other)) {
        return {
          problem: `process ${other.pid} hosts this team: end it, or write to the team with \`ramet team send\``,
        };
      }
      this.#setHost(by);
      // Nobody hosted them: whatever they were at has ended.
      this.#db.row("UPDATE members SET state = 'idle' WHERE team = ? AND state = 'working'", this.#team);
      return null;
    });
  }

  /** Only what it hosts. */
  leave(by: ProcessIdentity): void {
    this.#db.write('written', () => {
      const host = this.hostNow();
      if (host !== null && isSame(host, by)) this.#setHost(null);
    });
  }

  hostNow(): ProcessIdentity | null {
    const row = this.#db.row('SELECT host_pid, host_started FROM teams WHERE id = ?', this.#team);
    return identityFrom(row?.host_pid, row?.host_started);
  }

  #setHost(host: ProcessIdentity | null): void {
    const sql = 'UPDATE teams SET host_pid = ?, host_started = ? WHERE id = ?';
    this.#db.row(sql, host?.pid ?? null, host?.started ?? null, this.#team);
  }
}

export function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.started === other.started;
}

export function identityFrom(
  pid: TeamRow[string] | undefined,
  started: TeamRow[string] | undefined,
): ProcessIdentity | null {
  if (pid === null || pid === undefined) return null;
  return { pid: Number(pid), started: textOf(started) };
}

export function textOf(value: TeamRow[string] | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function memberFrom(row: TeamRow): TeamMember {
  return {
    name: String(row.name),
    agent: textOf(row.agent),
    type: String(row.type),
    // The columns hold nothing else: only this file writes them.
    state: String(row.state) as MemberState,
    plan: textOf(row.plan) as PlanState | null,
    unread: Number(row.unread),
  };
}
