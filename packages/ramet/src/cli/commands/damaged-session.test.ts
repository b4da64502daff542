import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { describeError } from '../../schema/errors.ts';
import { findPlace } from '../../sdk/place.ts';
import type { CommandIo } from '../io.ts';
import { blame } from './provenance.ts';
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
  execFileSync('git', ['init', '--quiet', cwd]);
  for (const name of ['new.txt', 'other.txt']) writeFileSync(join(cwd, name), 'before\n');
  execFileSync('git', ['-C', cwd, 'add', '.']);
  execFileSync('git', ['-C', cwd, ...AUTHOR, 'commit', '--quiet', '--message', 'first']);
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
