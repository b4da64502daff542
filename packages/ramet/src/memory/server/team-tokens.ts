/**
 * Tokens of teams. A token is shown once, when it is made; the file has its digest only. It begins with the id of its
 * row, so finding it compares nothing secret.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SharedDatabase, SharedRow } from '../../system/sqlite/shared-database.ts';

export interface TeamToken {
  id: string;
  team: string;
  note: string;
  /** Milliseconds. */
  created: number;
  revoked: number | null;
}

export interface TokenTeam {
  id: number;
  name: string;
  token: string;
}

const FORM = /^ramet_memory_([a-z0-9]{10})_([A-Za-z0-9_-]{43})$/;
const TEAM_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NOBODY = Buffer.alloc(32);

/** Why a team cannot be called that; null if it can. */
export function teamNameProblem(name: string): string | null {
  if (TEAM_NAME.test(name)) return null;
  return 'it must have 1 to 64 letters, digits, ".", "_" and "-", and begin with a letter or digit';
}

export class TeamTokens {
  readonly #db: SharedDatabase;
  readonly #rows = new Map<string, SharedRow>();

  constructor(db: SharedDatabase) {
    this.#db = db;
  }

  /** The token itself; makes the team with its first one. */
  create({ team, note, now }: { team: string; note: string; now: number }): { id: string; token: string } {
    const id = Array.from(randomBytes(10), (byte) => (byte % 36).toString(36)).join('');
    const token = `ramet_memory_${id}_${randomBytes(32).toString('base64url')}`;
    this.#db.write('synced', () => {
      this.#db.row('INSERT INTO teams (name) VALUES (?) ON CONFLICT (name) DO NOTHING', team);
      this.#db.row(
        'INSERT INTO tokens (id, team, digest, note, created) SELECT ?, id, ?, ?, ? FROM teams WHERE name = ?',
        ...[id, digestOfToken(token), note, now, team],
      );
    });
    return { id, token };
  }

  list(): TeamToken[] {
    const sql = `SELECT tokens.id, teams.name, note, created, revoked FROM tokens JOIN teams ON teams.id = tokens.team
      ORDER BY teams.name, created, tokens.id`;
    return this.#db.rows(sql).map((row) => ({
      id: String(row.id),
      team: String(row.name),
      note: String(row.note),
      created: Number(row.created),
      revoked: row.revoked === null ? null : Number(row.revoked),
    }));
  }

  /** False if none has that id. What was revoked before keeps its time. */
  revoke(id: string, now: number): boolean {
    const sql = 'UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ? RETURNING id';
    this.forget();
    return this.#db.write('synced', () => this.#db.row(sql, now, id)) !== undefined;
  }

  /** For when another connection has changed the database. */
  forget(): void {
    this.#rows.clear();
  }

  /** The team of a token that counts; null for any other text. */
  teamOf(token: string): TokenTeam | null {
    const id = FORM.exec(token)?.[1];
    if (id === undefined) return null;
    const row = this.#rows.get(id) ?? this.#read(id);
    const known = row?.digest instanceof Uint8Array ? row.digest : NOBODY;
    const isRight = timingSafeEqual(known, digestOfToken(token));
    if (row === undefined || !isRight || row.revoked !== null) return null;
    return { id: Number(row.team), name: String(row.name), token: id };
  }

  #read(id: string): SharedRow | undefined {
    const sql =
      'SELECT digest, revoked, teams.id AS team, name FROM tokens JOIN teams ON teams.id = tokens.team WHERE tokens.id = ?';
    const row = this.#db.row(sql, id);
    // Only those that exist: what strangers make up takes no room.
    if (row !== undefined) this.#rows.set(id, row);
    return row;
  }
}

function digestOfToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
