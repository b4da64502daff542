/**
 * The teams of one repository. Every process that works with one opens the store; a process that hosts a team keeps it
 * open, others close it at once.
 */
import { existsSync } from 'node:fs';
import type { AgentId, SessionId } from '../../schema/ids.ts';
import { LEAD, type TeamRecord } from '../../schema/team.ts';
import { keyOf, nameProblem } from '../rules/team-names.ts';
import { teamFile } from '../wake-line.ts';
import { CallRecord } from './call-record.ts';
import { Mailboxes } from './mailboxes.ts';
import { Plans } from './plans.ts';
import { type Problem, Roster } from './roster.ts';
import { TeamTaskList } from './task-list.ts';
import { openTeamDatabase, type TeamDatabase, type TeamRow } from './team-database.ts';

export { MOST_BYTES_AT_ONCE } from './mailboxes.ts';

export interface NewTeam {
  name: string;
  session: SessionId;
  /** The lead's agent. */
  agent: AgentId | null;
}

/** One team, to read and to change. */
export interface StoredTeam {
  readonly record: TeamRecord;
  readonly roster: Roster;
  readonly mail: Mailboxes;
  readonly tasks: TeamTaskList;
  readonly calls: CallRecord;
  readonly plans: Plans;
}

export class TeamStore implements Disposable {
  readonly project: string;
  readonly #db: TeamDatabase;
  readonly #now: () => number;

  constructor(project: string, now: () => number = Date.now) {
    this.project = project;
    this.#db = openTeamDatabase(project);
    this.#now = now;
  }

  /** One team for one session, with its lead in it. */
  create({ name, session, agent }: NewTeam): StoredTeam | Problem {
    const bad = nameProblem(name, 'team');
    if (bad !== null) return { problem: bad };
    return this.#db.write('synced', () => {
      const [same] = this.#find('key = ? OR session = ?', keyOf(name), session);
      if (same !== undefined) {
        const what = same.session === session ? `session ${session} has` : 'this repository has';
        return { problem: taken(what, same) };
      }
      this.#db.row(
        'INSERT INTO teams (key, name, session, created) VALUES (?, ?, ?, ?)',
        ...[keyOf(name), name, session, this.#now()],
      );
      const [record] = this.#find('key = ?', keyOf(name));
      if (record === undefined) throw new Error(`team ${name} was there a moment ago`);
      const team = this.open(record);
      team.roster.insert({ name: LEAD, type: 'main', agent });
      return team;
    });
  }

  /** Takes back the team of a session that came to nothing. One that has members, messages or tasks stays. */
  forget(session: SessionId): void {
    this.#db.write('synced', () => {
      const [record] = this.#find('session = ?', session);
      if (record === undefined) return;
      const { id } = record;
      const used = this.#db.row(
        `SELECT 1 FROM members WHERE team = ?1 AND key <> ?2 UNION ALL SELECT 1 FROM messages WHERE team = ?1
         UNION ALL SELECT 1 FROM tasks WHERE team = ?1 LIMIT 1`,
        ...[id, LEAD],
      );
      if (used !== undefined) return;
      for (const table of ['members', 'calls']) this.#db.row(`DELETE FROM ${table} WHERE team = ?`, id);
      this.#db.row('DELETE FROM teams WHERE id = ?', id);
    });
  }

  teams(): TeamRecord[] {
    return this.#find('TRUE');
  }

  /** By its name, or by its session. */
  find(nameOrSession: string): StoredTeam | undefined {
    const [record] = this.#find('key = ? OR session = ?', keyOf(nameOrSession), nameOrSession);
    return record && this.open(record);
  }

  open(record: TeamRecord): StoredTeam {
    const roster = new Roster(this.#db, record.id);
    const mail = new Mailboxes(this.#db, record.id, roster);
    const tasks = new TeamTaskList(this.#db, record.id, roster, this.#now);
    const calls = new CallRecord(this.#db, record.id);
    return { record, roster, mail, tasks, calls, plans: new Plans(this.#db, record.id, { roster, mail }) };
  }

  #find(where: string, ...values: readonly string[]): TeamRecord[] {
    return this.#db.rows(`SELECT * FROM teams WHERE ${where} ORDER BY id`, ...values).map(recordFrom);
  }

  [Symbol.dispose](): void {
    this.#db[Symbol.dispose]();
  }
}

/** Why a new team of this repository cannot have that name; null if it can. Makes nothing. */
export function newTeamProblem(project: string, name: string): string | null {
  const bad = nameProblem(name, 'team');
  if (bad !== null || !existsSync(teamFile(project))) return bad;
  using store = new TeamStore(project);
  const same = store.teams().find((team) => keyOf(team.name) === keyOf(name));
  return same === undefined ? null : taken('this repository has', same);
}

/** Why these cannot be the names of the members of one team; null if they can. */
export function memberNamesProblem(names: readonly string[]): string | null {
  for (const [at, name] of names.entries()) {
    const bad = nameProblem(name, 'member');
    if (bad !== null) return bad;
    const same = names.slice(0, at).find((other) => keyOf(other) === keyOf(name));
    if (same !== undefined) return `two members would be called "${same}": names differ in more than case`;
  }
  return null;
}

function taken(who: string, { name }: TeamRecord): string {
  return `${who} a team "${name}" already: \`ramet team show ${name}\` shows it`;
}

function recordFrom(row: TeamRow): TeamRecord {
  return {
    id: Number(row.id),
    name: String(row.name),
    session: String(row.session),
    created: Number(row.created),
  };
}
