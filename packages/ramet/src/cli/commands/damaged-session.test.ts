import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { repairSession } from '../../journal/repair-session.ts';
import { indexPath } from '../../journal/session-index.ts';
import { createSession } from '../../journal/sessions.ts';
import { describeError } from '../../schema/errors.ts';
import { callerOf } from '../../sdk/calls/caller.ts';
import { latestInterrupted } from '../../sdk/calls/status.ts';
import { checkSessions } from '../../sdk/doctor/session-check.ts';
import { findPlace } from '../../sdk/place.ts';
import { listHeld } from '../../sdk/retention/gc.ts';
import type { Holding } from '../../sdk/retention/holding.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { gc } from './gc.ts';
import { blame } from './provenance.ts';
import { ps } from './ps.ts';
import { stop } from './stop.ts';
import { undo } from './undo.ts';

type Command = (session: string, io: CommandIo) => Promise<unknown>;

const COMMANDS: [name: string, command: Command][] = [
  ['undo --dry-run', (session, io) => undo(session, { dryRun: true }, io)],
  [
    'undo --dry-run of a turn that is not there',
    (session, io) => undo(session, { dryRun: true, turn: 9 }, io),
  ],
  ['blame', (_, io) => blame('new.txt', {}, io)],
  ['stop', (session, io) => stop(session, {}, io)],
];

const AUTHOR = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];

/** A session that wrote two files, which nobody has committed since. */
async function recordChanges(): Promise<{ io: CommandIo; notes: string[]; session: string; file: string }> {
  const cwd = temporaryDirectory();
  runSync('git', ['init', '--quiet', cwd]);
  for (const name of ['new.txt', 'other.txt']) writeFileSync(join(cwd, name), 'before\n');
  runSync('git', ['-C', cwd, 'add', '.']);
  runSync('git', ['-C', cwd, ...AUTHOR, 'commit', '--quiet', '--message', 'first']);
  const notes: string[] = [];
  const io: CommandIo = {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, RAMET_HOME: join(temporaryDirectory(), 'ramet') },
    out: () => {},
    note: (line) => notes.push(line),
    progress: () => {},
    isTerminal: false,
    columns: null,
    signal: new AbortController().signal,
  };
  const recorded = await RecordedSession.open(findPlace(io).project, cwd);
  const main = recorded.agent(1);
  recorded.say(main, ['the task']);
  recorded.exchange(main, { answer: 'writing' });
  for (const name of ['new.txt', 'other.txt']) {
    const path = join(cwd, name);
    writeFileSync(path, 'line\n');
    recorded.record(main, { type: 'file.changed', call: name, path, before: null, after: 'unknown' });
  }
  recorded.end(main);
  await recorded.journal.commit('synced');
  await recorded.journal.close();
  return { io, notes, session: recorded.journal.session, file: recorded.journal.file };
}

/** What it says, errors of its own included. */
async function said(command: Command, session: string, io: CommandIo): Promise<string> {
  try {
    return String(await command(session, io));
  } catch (error) {
    return describeError(error);
  }
}

describe.each(COMMANDS)('LOG-1: %s', (_, command) => {
  test('tells in one line that a session is damaged, and what it says else is the same', async () => {
    const { io, notes, session, file } = await recordChanges();
    const whole = await said(command, session, io);
    expect(notes.filter((line) => line.includes('damaged'))).toEqual([]);
    using db = new DatabaseSync(file);
    const of = `data ->> 'path' LIKE '%other.txt'`;
    const seq = Number(db.prepare(`SELECT seq FROM events WHERE ${of}`).get()?.seq);
    db.exec(`UPDATE events SET time = time + 1 WHERE seq = ${seq}`);
    expect(await said(command, session, io)).toBe(whole);
    expect(notes.filter((line) => line.includes('damaged'))).toEqual([
      `session ${session} is damaged: event ${seq} cannot be read and is left out here; save the rest with: ramet doctor --repair ${session}`,
    ]);
  });
});

test('LOG-1: blame tells of a session that it cannot read at all', async () => {
  const { io, notes, session, file } = await recordChanges();
  writeFileSync(file, 'not a database, and longer than a header is'.repeat(10));
  await blame('new.txt', {}, io);
  expect(notes).toEqual([expect.stringMatching(`^session ${session} cannot be read: .*damaged`)]);
});

describe('LOG-1: what cannot be resumed is not advised', () => {
  test('resume names the repair of the latest session if that is damaged, and else a prompt', async () => {
    const { io, session, file } = await recordChanges();
    const prompt = `to resume the latest, give a prompt: ramet -p --resume ${session} PROMPT`;
    expect(() => latestInterrupted(callFrom(io))).toThrow(prompt);
    using db = new DatabaseSync(file);
    db.exec('UPDATE events SET time = time + 1 WHERE seq = 3');
    const repair = `the latest, ${session}, is damaged: save what can be read with: ramet doctor --repair ${session}`;
    expect(() => latestInterrupted(callFrom(io))).toThrow(repair);
    writeFileSync(file, 'not a database, and longer than a header is'.repeat(10));
    expect(() => latestInterrupted(callFrom(io))).toThrow(repair);
  });

  test('ps, resume and doctor advise a backup where the file of the only session is gone', async () => {
    const { io, session, file } = await recordChanges();
    rmSync(file);
    const advice = `nothing of session ${session} can be saved: ${file} is missing, and its WAL is missing too; restore it from a backup`;
    const lines: string[] = [];
    ps({ limit: 10 }, { ...io, out: (text) => lines.push(text) });
    expect(lines).toEqual([expect.stringContaining(advice)]);
    expect(() => latestInterrupted(callFrom(io))).toThrow(advice);
    const { remedy } = checkSessions({ caller: callerOf(callFrom(io)), place: findPlace(io) });
    expect(remedy).toBe('restore it from a backup (ramet gc lists what is left)');
  });

  test('ps does not call a directory new whose only session cannot be read', async () => {
    const { io, file } = await recordChanges();
    truncateSync(file, 0);
    const lines: string[] = [];
    ps({ limit: 10 }, { ...io, out: (text) => lines.push(text) });
    expect(lines).toEqual([
      'no session of this directory can be listed: ramet doctor says which are damaged\n',
    ]);
  });

  test('resume names a session of which it is not on record where it worked', async () => {
    const { io, file } = await recordChanges();
    rmSync(file);
    const journal = await createSession({ project: findPlace(io).project, cwd: '' });
    await journal.close();
    expect(() => latestInterrupted(callFrom(io))).toThrow(
      `where session ${journal.session} worked is not on record: if it was here, run ramet resume ${journal.session}`,
    );
  });

  test('ps names a session of which the start of every agent is lost', async () => {
    const { io, notes, session, file } = await recordChanges();
    using db = new DatabaseSync(file);
    db.exec("DELETE FROM events WHERE type = 'agent.started'");
    repairSession({ project: findPlace(io).project, session });
    ps({ limit: 10 }, io);
    expect(notes).toEqual([
      `session ${session}: which agents it had is not on record; see what was saved with: ramet logs ${session}`,
    ]);
  });
});

test('LOG-1: gc lists what it can beside a damaged list of worktrees, and removes no session', async () => {
  const { io, session } = await recordChanges();
  const { project } = findPlace(io);
  const old = { ...callFrom(io), olderThan: 0 };
  const kept = (items: readonly Holding[]) => items.map(({ kind, keep }) => [kind, keep]);
  expect(kept((await listHeld(old)).items)).toEqual([['session', null]]);
  writeFileSync(indexPath(project), 'not a database, and longer than a header is'.repeat(10));
  const { items } = await listHeld(old);
  expect(kept(items).toSorted()).toEqual([
    ['session', 'its agents may have worktrees, and the list of worktrees is damaged'],
    ['worktree', expect.stringMatching(/^the list of worktrees in .* is damaged: start a session/)],
  ]);
  expect(items.some(({ name }) => name.startsWith(session))).toBe(true);
  expect(await gc({ dryRun: true }, io)).toBe(0);
});
