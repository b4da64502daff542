import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findProcess, thisProcess } from '../system/processes/process-identity.ts';
import { lockInode, lockPath, sessionPath } from './session-file.ts';
import { listSessions } from './session-list.ts';
import { createSession, isWriterAlive, livingWriter, resumeSession } from './sessions.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-one-writer-'));
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
});
afterAll(() => rmSync(root, { recursive: true }));

let projects = 0;
const newProject = (): string => join(root, `project-${++projects}`);
const warning = { type: 'warning.raised', code: 'test', message: 'x' } as const;
const [boot, ticks, namespace, machine] = thisProcess().started?.split('-') ?? [];

/** A process that makes a session and holds it until it is killed. */
async function startWriter(project: string): Promise<{ child: ChildProcess; session: string }> {
  const program = `import(${JSON.stringify(join(import.meta.dirname, 'sessions.ts'))}).then(async ({ createSession }) => {
    const journal = await createSession({ project: ${JSON.stringify(project)}, cwd: '/w' });
    journal.append(null, ${JSON.stringify(warning)});
    await journal.commit('written');
    console.log(journal.session);
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [output] = await once(child.stdout, 'data');
  return { child, session: String(output).trim() };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Makes the lease on record look as if it had been written there. */
function rewriteLease(project: string, session: string, pid: number, started: string): void {
  const file = sessionPath(project, session);
  using db = new DatabaseSync(file);
  const lock = lockInode(file) ?? undefined;
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('writer', ?)").run(
    JSON.stringify({ pid, started, token: 'theirs', lock }),
  );
}

async function closedSession(project: string): Promise<string> {
  const journal = await createSession({ project, cwd: '/w' });
  await journal.close();
  return journal.session;
}

describe('LOG-1: a second host from another pid namespace', () => {
  test('is refused while the first lives, whatever its own /proc says about that pid', async () => {
    const project = newProject();
    const { session } = await startWriter(project);
    rewriteLease(project, session, 4_000_000, `${boot}-${ticks}-1-${machine}`);
    expect(isWriterAlive({ project, session })).toBe(true);
    await expect(resumeSession({ project, session })).rejects.toThrow(
      `session ${session} is being written by process 4000000 of another container or pid namespace: wait for it, or end it there, then try again`,
    );
    await expect(resumeSession({ project, session, takeOver: true })).rejects.toThrow('is being written by');
  });

  test('takes over by itself once the first is dead', async () => {
    const project = newProject();
    const { child, session } = await startWriter(project);
    rewriteLease(project, session, process.pid, `${boot}-${ticks}-1-${machine}`);
    await end(child);
    expect(isWriterAlive({ project, session })).toBe(false);
    const { journal, reader } = await resumeSession({ project, session });
    reader.close();
    await journal.close();
  });

  test('needs a person where the lock file was removed', async () => {
    const project = newProject();
    const session = await closedSession(project);
    rewriteLease(project, session, 1, `${boot}-1-1-${machine}`);
    rmSync(lockPath(sessionPath(project, session)));
    await expect(resumeSession({ project, session })).rejects.toThrow(
      `session ${session} was last written by process 1 in another container or pid namespace, and nothing here tells whether it still runs: make sure that it has ended, then: ramet resume --take-over ${session}`,
    );
  });
});

describe('LOG-1: a copy of a session that is being written', () => {
  /** As `cp -a` of the home makes it. */
  function copyOf(project: string): string {
    const copy = newProject();
    cpSync(project, copy, { recursive: true });
    return copy;
  }

  test('is refused while the writer lives, and a person may take it over', async () => {
    const original = newProject();
    const { child, session } = await startWriter(original);
    const project = copyOf(original);
    const line = `session ${session} is a copy of one that process ${child.pid} is writing: both would work in the same checkout; end that process, then try again, or: ramet resume --take-over ${session}`;
    await expect(resumeSession({ project, session })).rejects.toThrow(line);
    expect(isWriterAlive({ project, session })).toBe(true);
    const { journal, reader } = await resumeSession({ project, session, takeOver: true });
    reader.close();
    await journal.close();
  });

  test('needs a person where its writer cannot be seen: the lock beside the copy is another', async () => {
    const original = newProject();
    const { child, session } = await startWriter(original);
    rewriteLease(original, session, 4_000_000, `${boot}-${ticks}-1-${machine}`);
    const project = copyOf(original);
    const refusal = 'in another container or pid namespace, and nothing here tells whether it still runs';
    await expect(resumeSession({ project, session })).rejects.toThrow(refusal);
    await end(child);
    await expect(resumeSession({ project, session })).rejects.toThrow(refusal);
    const { journal, reader } = await resumeSession({ project, session, takeOver: true });
    reader.close();
    await journal.close();
  });

  test('is free once the writer has ended, and when it has closed the session without a word', async () => {
    const original = newProject();
    const { child, session } = await startWriter(original);
    const project = copyOf(original);
    const other = await startWriter(newProject());
    rewriteLease(project, session, other.child.pid ?? 0, startOf(other.child));
    expect(livingWriter({ project, session })).toBeNull();
    rewriteLease(project, session, child.pid ?? 0, startOf(child));
    expect(livingWriter({ project, session })).not.toBeNull();
    await end(child);
    const { journal, reader } = await resumeSession({ project, session });
    reader.close();
    await journal.close();
  });
});

describe('LOG-1: a copy of a session that nobody writes', () => {
  /** What a resume there says, and whether its agents are to check before they repeat anything. */
  async function resumed(project: string, session: string): Promise<[string[], boolean]> {
    const { journal, reader, endIsMissing } = await resumeSession({ project, session });
    await journal.commit('written');
    const warnings = Array.from(reader.events(), ({ event }) =>
      event.type === 'warning.raised' && event.code === 'journal_copied' ? event.message : null,
    ).filter((message) => message !== null);
    reader.close();
    await journal.close();
    return [warnings, endIsMissing];
  }

  test.each(['closed', 'killed'])('tells so once, and the original does not (%s)', async (how) => {
    const original = newProject();
    const { child, session } = await startWriter(original);
    await end(child);
    if (how === 'closed') expect(await resumed(original, session)).toEqual([[], false]);
    const copy = newProject();
    cpSync(original, copy, { recursive: true });
    expect(await resumed(original, session)).toEqual([[], false]);
    const line = `session ${session} was copied or restored from a backup since it was last used: what another copy did since then may be done again: check the files before you rely on them`;
    expect(await resumed(copy, session)).toEqual([[line], true]);
    expect(await resumed(copy, session)).toEqual([[line], false]);
  });

  test('a home that was moved is none', async () => {
    const before = newProject();
    const session = await closedSession(before);
    const after = newProject();
    renameSync(before, after);
    expect(await resumed(after, session)).toEqual([[], false]);
  });
});

function startOf(child: ChildProcess): string {
  return `${findProcess(child.pid ?? 0)?.started}-${namespace}-${machine}`;
}

describe('LOG-1: a session of another machine', () => {
  test('is never judged dead, and a person may take it over', async () => {
    const project = newProject();
    const session = await closedSession(project);
    rewriteLease(project, session, 1, 'ffffffff-1-1-ffffffff');
    expect(livingWriter({ project, session })).toMatchObject({ pid: 1 });
    const refused = resumeSession({ project, session });
    await expect(refused).rejects.toMatchObject({ code: 'session_in_use', family: 'mistake' });
    await expect(refused).rejects.toThrow(`process 1 on another machine`);
    // A refused attempt leaves the lock free and the lease as it was.
    await expect(resumeSession({ project, session })).rejects.toThrow('on another machine');
    const { journal, reader } = await resumeSession({ project, session, takeOver: true });
    reader.close();
    await journal.close();
    expect(livingWriter({ project, session })).toBeNull();
  });

  test('is free when it was this machine before it started again', async () => {
    const project = newProject();
    const session = await closedSession(project);
    rewriteLease(project, session, process.pid, `ffffffff-1-${namespace}-${machine}`);
    expect(livingWriter({ project, session })).toBeNull();
    const { journal, reader } = await resumeSession({ project, session });
    reader.close();
    await journal.close();
  });
});

describe('LOG-1: a session of the version before', () => {
  test('is free when its process is gone, and refused while it lives', async () => {
    const project = newProject();
    const session = await closedSession(project);
    const file = sessionPath(project, session);
    {
      using db = new DatabaseSync(file);
      db.exec("DELETE FROM meta WHERE key = 'fence'");
    }
    rmSync(lockPath(file));
    rewriteLease(project, session, process.pid, `${boot}-${ticks}`);
    await expect(resumeSession({ project, session })).rejects.toThrow('open in this program');
    rewriteLease(project, session, process.pid, `${boot}-1`);
    const { journal, reader } = await resumeSession({ project, session });
    journal.append(null, warning);
    await journal.commit('synced');
    reader.close();
    await journal.close();
  });

  test('is free when its lease is damaged', async () => {
    const project = newProject();
    const session = await closedSession(project);
    {
      using db = new DatabaseSync(sessionPath(project, session));
      db.exec("INSERT INTO meta (key, value) VALUES ('writer', '{\"pid\"')");
    }
    expect(livingWriter({ project, session })).toBeNull();
    expect(listSessions(project)).toHaveLength(1);
  });
});

describe('LOG-1: a writer that was taken over from', () => {
  test('writes nothing more, and leaves the lease to the other', async () => {
    const project = newProject();
    const old = await createSession({ project, cwd: '/w' });
    old.append(null, warning);
    await old.commit('written');
    // Its lock is lost, as by a machine that does not see it.
    rmSync(lockPath(old.file));
    rewriteLease(project, old.session, 1, 'ffffffff-1-1-ffffffff');
    const { journal, reader } = await resumeSession({ project, session: old.session, takeOver: true });
    old.append(null, warning);
    const line = `cannot write the journal ${old.file}: another process has taken the session over; this one stops and changes nothing more`;
    await expect(old.commit('written')).rejects.toThrow(line);
    await expect(old.close()).rejects.toThrow(line);
    expect([...reader.events()]).toHaveLength(1);
    expect(livingWriter({ project, session: old.session })).toMatchObject({ pid: process.pid });
    journal.append(null, warning);
    await journal.commit('synced');
    expect([...reader.events()]).toHaveLength(2);
    reader.close();
    await journal.close();
  });
});

test('LOG-1: a writer that is stopped stays the owner', async () => {
  const project = newProject();
  const { child, session } = await startWriter(project);
  child.kill('SIGSTOP');
  await expect(resumeSession({ project, session })).rejects.toThrow(`process ${child.pid}`);
  expect(isWriterAlive({ project, session })).toBe(true);
});

test('LOG-1: of many that resume at once, one writes', async () => {
  const project = newProject();
  const session = await closedSession(project);
  writeFileSync(join(root, 'race.mjs'), RACE);
  const ends = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, [join(root, 'race.mjs'), import.meta.dirname, project, session], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      const [output] = await once(child.stdout, 'data');
      return String(output).trim();
    }),
  );
  expect(ends.toSorted()).toEqual(['mine', 'refused', 'refused', 'refused']);
});

const RACE = `
const [room, project, session] = process.argv.slice(2);
const { resumeSession } = await import(room + '/sessions.ts');
try {
  await resumeSession({ project, session });
  console.log('mine');
  setInterval(() => {}, 1000);
} catch (error) {
  console.log(error.code === 'session_in_use' ? 'refused' : error.message);
}
`;
