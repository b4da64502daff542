/** The tables of a session's file and of the index of a repository, one migration after the other. */

export const SESSION_MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     time INTEGER NOT NULL,
     agent TEXT,
     data TEXT NOT NULL
   );
   CREATE TABLE blocks (digest TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);`,
  // `type` is computed, so that it costs no space and cannot disagree with the event itself.
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   ALTER TABLE events ADD COLUMN type TEXT GENERATED ALWAYS AS (data ->> 'type') VIRTUAL;`,
  // Null in events of earlier versions (integrity.ts).
  'ALTER TABLE events ADD COLUMN crc INTEGER;',
];

/** The shape that all migrations lead to, for a new file: made at once it takes less than half the time. */
export const NEWEST_SESSION: string = `CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     time INTEGER NOT NULL,
     agent TEXT,
     data TEXT NOT NULL,
     type TEXT GENERATED ALWAYS AS (data ->> 'type') VIRTUAL,
     crc INTEGER
   );
   CREATE TABLE blocks (digest TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);
   CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   PRAGMA user_version = ${SESSION_MIGRATIONS.length};`;

const BLOCKS = 'blocks(digest,bytes)';
const META = 'meta(key,value)';

/** What a file of each version has, by name: it tells the version where the number is damaged. */
export const SESSION_SHAPES: readonly string[] = [
  '',
  `${BLOCKS} events(seq,time,agent,data)`,
  `${BLOCKS} events(seq,time,agent,data,type) ${META}`,
  `${BLOCKS} events(seq,time,agent,data,type,crc) ${META}`,
];

/** The first version whose events have a check beside them. */
export const CHECKED_EVENTS = 3;

/** The tables of the index. It has one number, so those of `git/` (worktrees, merges) are in one sequence with ours. */
export const INDEX_MIGRATIONS: readonly string[] = [
  `CREATE TABLE sessions (
     id TEXT PRIMARY KEY,
     created INTEGER NOT NULL,
     opened INTEGER NOT NULL,
     ended INTEGER,
     cwd TEXT NOT NULL,
     title TEXT
   ) WITHOUT ROWID;
   CREATE TABLE leases (
     session TEXT PRIMARY KEY,
     pid INTEGER NOT NULL,
     started TEXT,
     token TEXT NOT NULL
   ) WITHOUT ROWID;`,
  // What a worktree holds beyond these columns (`facts`) is JSON: only whole rows are read.
  `CREATE TABLE worktrees (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     path TEXT NOT NULL,
     branch TEXT,
     base TEXT NOT NULL,
     state TEXT NOT NULL,
     session TEXT,
     agent TEXT,
     pid INTEGER,
     started TEXT,
     slot INTEGER NOT NULL,
     admin TEXT NOT NULL,
     created INTEGER NOT NULL,
     changed INTEGER NOT NULL,
     facts TEXT NOT NULL
   ) WITHOUT ROWID;`,
  // The merge queue (merge-entries.ts). It names nothing of the other tables.
  `CREATE TABLE merges (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     target TEXT NOT NULL,
     branch TEXT NOT NULL,
     tip TEXT NOT NULL,
     single INTEGER NOT NULL,
     strategy TEXT NOT NULL,
     state TEXT NOT NULL,
     reason TEXT,
     result TEXT,
     queued INTEGER NOT NULL,
     updated INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE merge_wishes (target TEXT PRIMARY KEY, wishes TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
  // The check command that `result` has passed.
  'ALTER TABLE merges ADD COLUMN checked TEXT',
];
