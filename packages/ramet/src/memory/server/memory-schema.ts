/** The tables of the memory server. A migration, once released, is never edited. */
export const MEMORY_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE teams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- Grows with every change; stamp tells apart two states with one number after a backup was put back.
    version INTEGER NOT NULL DEFAULT 0,
    stamp TEXT NOT NULL DEFAULT ''
  );
  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    team INTEGER NOT NULL REFERENCES teams (id),
    digest BLOB NOT NULL,
    note TEXT NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER
  );
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    team INTEGER NOT NULL REFERENCES teams (id),
    key TEXT NOT NULL,
    folded TEXT NOT NULL,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    size INTEGER NOT NULL,
    -- Null for a deleted key: the row stays, so that nobody brings it back unawares.
    value BLOB,
    UNIQUE (team, key)
  );
  CREATE INDEX entries_folded ON entries (team, folded);
  `,
];
