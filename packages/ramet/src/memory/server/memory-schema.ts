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
  // What a team has, for its limits: counting it again with every write took longer than the write.
  `
  ALTER TABLE teams ADD COLUMN rows INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE teams ADD COLUMN keys INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE teams ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE teams SET (rows, keys, bytes) =
    (SELECT count(*), count(value), coalesce(sum(size), 0) FROM entries WHERE team = teams.id);
  CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
    UPDATE teams SET rows = rows + 1, keys = keys + (new.value IS NOT NULL), bytes = bytes + new.size WHERE id = new.team;
  END;
  CREATE TRIGGER entry_changed AFTER UPDATE OF value, size ON entries BEGIN
    UPDATE teams SET keys = keys + (new.value IS NOT NULL) - (old.value IS NOT NULL), bytes = bytes + new.size - old.size
      WHERE id = new.team;
  END;
  `,
  // Every start of a server begins a part of a team's history; `server/history-parts.ts` says what for.
  `
  CREATE TABLE parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    team INTEGER NOT NULL REFERENCES teams (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL
  );
  CREATE INDEX parts_team ON parts (team, id);
  CREATE TRIGGER team_added AFTER INSERT ON teams BEGIN
    INSERT INTO parts (team, name, version) VALUES (new.id, lower(hex(randomblob(8))), new.version);
  END;
  `,
  // Beginnings of the checksums of earlier versions, the newest first: an old copy brings no deleted key back.
  `ALTER TABLE entries ADD COLUMN earlier TEXT NOT NULL DEFAULT ''`,
];
