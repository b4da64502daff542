/**
 * Whether a server still has what a client has seen of it. After an old copy of its file was put back versions are given a
 * second time, so no version says that. Every start of a server begins a part of the history, with a name by chance and the
 * version that the team has by then: a part that is not in the file, or went on behind the beginning of the next one, was
 * lost with the versions above that.
 */
import type { SharedDatabase } from '../../system/sqlite/shared-database.ts';

/** A part of the history that a client has seen, up to a version. The last one is where it was last. */
export interface SeenPart {
  readonly name: string;
  readonly version: number;
}

/** Of all teams; a client that has seen an older one keeps what differs twice. */
const MOST_PARTS = 100_000;

/** At the start of a server. */
export function beginPart(db: SharedDatabase): void {
  db.write('written', () => {
    db.row(
      'INSERT INTO parts (team, name, version) SELECT id, lower(hex(randomblob(8))), version FROM teams ORDER BY id',
    );
    db.row('DELETE FROM parts WHERE id <= (SELECT max(id) FROM parts) - ?', MOST_PARTS);
  });
}

/** The part that is written now, and the version up to which the client and this server have seen the same; null for all of it. */
export function partOf(
  db: SharedDatabase,
  team: number,
  seen: readonly SeenPart[],
): { part: string; parted: number | null } {
  const now = db.row('SELECT name FROM parts WHERE team = ? ORDER BY id DESC LIMIT 1', team);
  return { part: String(now?.name ?? ''), parted: partedAt(db, team, seen) };
}

function partedAt(db: SharedDatabase, team: number, seen: readonly SeenPart[]): number | null {
  if (seen.length === 0) return null;
  const names = JSON.stringify(seen.map(({ name }) => name));
  const last = db.row(
    'SELECT id, name FROM parts WHERE team = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT 1',
    ...[team, names],
  );
  if (last === undefined) return 0;
  const next =
    db.row(
      'SELECT version FROM parts WHERE team = ? AND id > ? ORDER BY id LIMIT 1',
      team,
      Number(last.id),
    ) ?? db.row('SELECT version FROM teams WHERE id = ?', team);
  const until = Number(next?.version ?? 0);
  const { name, version } = seen.at(-1) ?? { name: '', version: 0 };
  return name === last.name && version <= until ? null : until;
}

const SEEN_PART = /^([a-z0-9]{1,32})\.(\d{1,15})$/;

/** `9f2k.12,7x1m.40`; what has another form says nothing. */
export function readSeenParts(text: string | undefined): SeenPart[] {
  return (text ?? '').split(',', 100).flatMap((one) => {
    const [, name, version] = SEEN_PART.exec(one) ?? [];
    return name === undefined ? [] : [{ name, version: Number(version) }];
  });
}
