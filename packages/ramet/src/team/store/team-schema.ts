/** The shape of `teams.sqlite`. A migration, once released, is never edited. */
export const TEAM_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE teams (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    session TEXT NOT NULL,
    created INTEGER NOT NULL,
    host_pid INTEGER,
    host_started TEXT
  );
  CREATE TABLE members (
    team INTEGER NOT NULL REFERENCES teams(id),
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    agent TEXT,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    plan TEXT,
    cursor INTEGER NOT NULL,
    PRIMARY KEY (team, key)
  ) WITHOUT ROWID;
  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    team INTEGER NOT NULL REFERENCES teams(id),
    call TEXT NOT NULL,
    sender TEXT,
    receiver TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (team, call)
  );
  CREATE INDEX messages_of_receiver ON messages (team, receiver, seq);
  CREATE INDEX messages_of_sender ON messages (team, sender, seq);
  CREATE TABLE tasks (
    team INTEGER NOT NULL REFERENCES teams(id),
    number INTEGER NOT NULL,
    subject TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    blockers INTEGER NOT NULL,
    owner TEXT,
    created_by TEXT NOT NULL,
    evidence TEXT,
    note TEXT,
    claim_pid INTEGER,
    claim_started TEXT,
    PRIMARY KEY (team, number)
  ) WITHOUT ROWID;
  CREATE INDEX free_tasks ON tasks (team, owner, number) WHERE status = 'pending' AND blockers = 0;
  CREATE INDEX claimed_tasks ON tasks (team, claim_pid) WHERE status = 'in_progress';
  CREATE TABLE task_needs (
    team INTEGER NOT NULL,
    task INTEGER NOT NULL,
    needs INTEGER NOT NULL,
    PRIMARY KEY (team, task, needs)
  ) WITHOUT ROWID;
  CREATE INDEX needed_by ON task_needs (team, needs);
  CREATE TABLE task_changes (
    seq INTEGER PRIMARY KEY,
    team INTEGER NOT NULL,
    task INTEGER NOT NULL,
    by TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL,
    time INTEGER NOT NULL
  );
  CREATE INDEX changes_of_task ON task_changes (team, task);
  `,
  `
  CREATE TABLE calls (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    team INTEGER NOT NULL REFERENCES teams(id),
    call TEXT NOT NULL,
    outcome TEXT NOT NULL,
    UNIQUE (team, call)
  );
  `,
  `
  ALTER TABLE members ADD COLUMN plan_text TEXT;
  ALTER TABLE members ADD COLUMN plan_call TEXT;
  ALTER TABLE messages ADD COLUMN kind TEXT;
  `,
  `
  ALTER TABLE tasks ADD COLUMN claim_position INTEGER;
  ALTER TABLE tasks ADD COLUMN proof TEXT;
  `,
  `
  CREATE TABLE absences (
    team INTEGER NOT NULL REFERENCES teams(id),
    key TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (team, key, since)
  ) WITHOUT ROWID;
  INSERT INTO absences (team, key, since) SELECT team, key, (SELECT coalesce(max(seq), 0) FROM messages)
    FROM members WHERE state IN ('stopping', 'stopped');
  `,
];
