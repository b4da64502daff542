import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { describeError } from '../../schema/errors.ts';
import { findPlace } from '../../sdk/place.ts';
import type { CommandIo } from '../io.ts';
import { explainCache } from './cache.ts';
import { cost } from './cost.ts';
import { logs } from './logs.ts';
import { ps } from './ps.ts';
import { show } from './show.ts';

function newIo(): CommandIo {
  const cwd = temporaryDirectory();
  runSync('git', ['init', '--quiet', cwd]);
  const env = { PATH: process.env.PATH, HOME: cwd, RAMET_HOME: join(temporaryDirectory(), 'ramet') };
  return {
    cwd,
    env,
    out: () => {},
    note: () => {},
    progress: () => {},
    isTerminal: false,
    columns: null,
    signal: new AbortController().signal,
  };
}

/** A main agent and a fork, both answered; returns the file. */
async function recordSession(io: CommandIo): Promise<{ session: string; file: string }> {
  const { project } = findPlace(io);
  const recorded = await RecordedSession.open(project, io.cwd);
  const main = recorded.agent(1);
  recorded.say(main, ['the task']);
  recorded.exchange(main, { answer: 'handing it out' });
  const fork = recorded.fork(2, main, 'a part');
  recorded.exchange(fork, { answer: 'all of the part' });
  recorded.end(fork);
  recorded.exchange(main, { answer: 'the end' });
  recorded.end(main);
  await recorded.journal.close();
  return { session: recorded.journal.session, file: recorded.journal.file };
}

/** The page at which a table or index begins. */
function rootOf(file: string, table: string): number {
  using db = new DatabaseSync(file);
  return Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)?.rootpage);
}

type View = (session: string, io: CommandIo) => unknown;

const VIEWS: [name: string, view: View][] = [
  ['ps', (_, io) => ps({ limit: 10 }, io)],
  ['ps --json', (_, io) => ps({ limit: 10, json: true }, io)],
  ['cost', (session, io) => cost(session, {}, io)],
  ['cost --json', (session, io) => cost(session, { json: true }, io)],
  ['cost --all', (_, io) => cost(undefined, { all: true }, io)],
  ['show', (session, io) => show(session, {}, io)],
  ['show --json', (session, io) => show(session, { json: true }, io)],
  ['show of an agent', (session, io) => show(`${session}.2`, {}, io)],
  ['logs', (session, io) => logs(session, {}, io)],
  ['logs --json of an agent', (session, io) => logs(`${session}.2`, { json: true }, io)],
  ['cache explain', (session, io) => explainCache(session, {}, io)],
  ['cache explain --json of an agent', (session, io) => explainCache(`${session}.1`, { json: true }, io)],
];

/** What each view says about it, by name. */
async function notesOfAll(place: CommandIo, session: string): Promise<Record<string, readonly string[]>> {
  const said: Record<string, readonly string[]> = {};
  for (const [name, view] of VIEWS) {
    const [printed, notes]: [string[], string[]] = [[], []];
    await view(session, { ...place, out: (text) => printed.push(text), note: (line) => notes.push(line) });
    said[name] = printed.join('') === '' ? ['it printed nothing'] : notes;
  }
  return said;
}

const allSay = (lines: readonly string[]) => Object.fromEntries(VIEWS.map(([name]) => [name, lines]));

describe('LOG-1: every view', () => {
  test('of a damaged session says how much is damaged and what to do, in one line', async () => {
    const io = newIo();
    const { session, file } = await recordSession(io);
    using db = new DatabaseSync(file);
    const last = Number(db.prepare('SELECT max(seq) AS last FROM events').get()?.last);
    db.exec(`UPDATE events SET time = time + 1 WHERE seq = ${last}`);
    db.exec(`UPDATE blocks SET bytes = CAST(replace(bytes, 'handing', 'keeping') AS BLOB)`);
    expect(await notesOfAll(io, session)).toEqual(
      allSay([
        `session ${session} is damaged: event ${last} and 1 block of what was said cannot be read and are left out here; save the rest with: ramet doctor --repair ${session}`,
      ]),
    );
  });

  test.each([
    ['the index of its blocks', 'sqlite_autoindex_blocks_1', /: \d+ blocks of what was said cannot be read/],
    ['its meta data', 'meta', /: its title and who wrote it cannot be read/],
  ])('of a session that lost %s says so and shows the rest', async (_, table, line) => {
    const io = newIo();
    const { session, file } = await recordSession(io);
    const bytes = readFileSync(file);
    const page = rootOf(file, table);
    bytes.fill(0xff, (page - 1) * 4096, page * 4096);
    writeFileSync(file, bytes);
    for (const [name, lines] of Object.entries(await notesOfAll(io, session)))
      expect([name, lines]).toEqual([name, [expect.stringMatching(line)]]);
  });

  test('of a session that is whole says nothing of the kind', async () => {
    const io = newIo();
    const { session } = await recordSession(io);
    expect(await notesOfAll(io, session)).toEqual(allSay([]));
  });

  test.each([
    ['names a table otherwise', 'CREATE TABLE events', 'CREATE TABLE evants'],
    ['is no SQL', 'CREATE TABLE', 'CREAXE TABLE'],
    ['lacks a column of events', 'data TEXT', 'dxta TEXT'],
    ['lacks a column of blocks', 'bytes BLOB', 'bytez BLOB'],
    ['lacks a column of meta', 'key TEXT PRIMARY', 'kay TEXT PRIMARY'],
  ])('of a journal whose schema %s names the file and what to do', async (_, from, to) => {
    const io = newIo();
    const { session: other } = await recordSession(io);
    const { session, file } = await recordSession(io);
    const bytes = readFileSync(file);
    bytes.write(to, bytes.indexOf(from));
    writeFileSync(file, bytes);
    const line = `cannot read the journal ${file}: it is damaged or not a journal; save what can be read with: ramet doctor --repair ${session}`;
    for (const [name, view] of VIEWS) {
      const [printed, notes]: [string[], string[]] = [[], []];
      const told = {
        ...io,
        out: (text: string) => printed.push(text),
        note: (text: string) => notes.push(text),
      };
      const failure = await Promise.try(() => view(session, told)).then(() => null, describeError);
      if (name.startsWith('ps') || name === 'cost --all') {
        expect([name, notes, failure]).toEqual([name, [`session ${session} cannot be read: ${line}`], null]);
        expect(printed.join('')).toContain(other);
      } else expect([name, notes, failure]).toEqual([name, [], line]);
    }
  });
});
