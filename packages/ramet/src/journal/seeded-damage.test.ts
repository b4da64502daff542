import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEvent } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';
import { witnessPath } from './integrity.ts';
import { repairSession } from './repair-session.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const EVENTS = 80;
const SECTOR = 512;
const PAGE = 4096;
const INDEX_LEAF = 10;

const folder = mkdtempSync(join(tmpdir(), 'ramet-seeded-'));
const project = join(folder, 'project');
afterAll(() => rmSync(folder, { recursive: true }));

let session = '';
let file = '';
let whole: Buffer = Buffer.alloc(0);

const block = (number: number): Buffer =>
  Buffer.from(JSON.stringify({ type: 'text', text: `${number} ${'x'.repeat((number * 37) % 900)}` }));
const message = (number: number): JournalEvent => ({
  type: 'message.appended',
  role: 'user',
  cause: 'prompt',
  blocks: [digestOf(block(number))],
  shared: 0,
});

beforeAll(async () => {
  const journal = await createSession({ project, cwd: '/w', title: 'Talk' });
  for (let number = 1; number <= EVENTS; number++) {
    journal.storeBlock(digestOf(block(number)), block(number));
    journal.append(`s.${1 + (number % 4)}`, message(number));
  }
  await journal.commit('synced');
  await journal.close();
  ({ session, file } = journal);
  whole = readFileSync(file);
  copyFileSync(witnessPath(file), join(folder, 'witness'));
});

function restore(bytes: Uint8Array): void {
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  writeFileSync(file, bytes);
  copyFileSync(join(folder, 'witness'), witnessPath(file));
}

type Ending = { refused: string } | { read: string[]; first: number };

/** What a resumed session can be worked from, and where its first new event is. */
async function resume(): Promise<Ending> {
  try {
    const { journal, reader, endIsMissing } = await resumeSession({ project, session });
    journal.append(null, { type: 'warning.raised', code: 'mark', message: 'resumed' });
    await journal.commit('written');
    const events = [...reader.events()];
    const read = events.flatMap(({ event }) =>
      event.type === 'message.appended'
        ? event.blocks.map((digest) => Buffer.from(reader.block(digest)).toString())
        : [],
    );
    const first = events.find(({ event }) => event.type === 'warning.raised')?.seq ?? 0;
    reader.close();
    await journal.close();
    return endIsMissing ? { refused: 'its end is missing, which is told' } : { read, first };
  } catch (error) {
    return { refused: String(error) };
  }
}

/** Either everything is there, or it is refused with the line that helps, and then repaired and resumed. */
async function expectNothingLostInSilence(): Promise<void> {
  const ending = await resume();
  if ('read' in ending) {
    expect(ending.read).toEqual(Array.from({ length: EVENTS }, (_, index) => String(block(index + 1))));
    expect(ending.first).toBe(EVENTS + 1);
    return;
  }
  if (ending.refused.includes('told')) return;
  expect(ending.refused).toContain(`ramet doctor --repair ${session}`);
  const outcome = repairSession({ project, session });
  if (outcome.kept !== null) rmSync(outcome.kept);
  const again = await resume();
  if ('read' in again) expect(again.first).toBeGreaterThan(0);
  else expect(again.refused).toContain('told');
}

/** The same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('LOG-1: a session that was damaged anywhere', () => {
  test.each(Array.from({ length: 30 }, (_, index) => index + 1))(
    'is resumed whole, or refused with a line: seed %i',
    async (seed) => {
      const random = randomFrom(seed * 7919);
      const bytes = Buffer.from(whole);
      const size = [1, 16, SECTOR, PAGE][random(4)] ?? 1;
      const at = Math.floor(random(bytes.length - 1) / size) * size;
      if (random(2) === 0) bytes.fill(0, at, at + size);
      else for (let byte = at; byte < at + size; byte++) bytes[byte] = random(256);
      restore(bytes);
      await expectNothingLostInSilence();
    },
  );

  test.each([512, 2048])('is refused when the last %i bytes of a page of events are zeros', async (zeros) => {
    let pages = 0;
    for (let page = PAGE; page < whole.length; page += PAGE) {
      if (!whole.subarray(page, page + PAGE).includes('message.appended')) continue;
      pages += 1;
      const bytes = Buffer.from(whole);
      bytes.fill(0, page + PAGE - zeros, page + PAGE);
      restore(bytes);
      await expectNothingLostInSilence();
    }
    expect(pages).toBeGreaterThan(1);
  });

  test.each([1, 777, PAGE])('is refused when it is cut by %i bytes', async (missing) => {
    restore(whole);
    truncateSync(file, whole.length - missing);
    await expectNothingLostInSilence();
  });

  test('loses one event, and not thousands, when the page of the last is cut off', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    // So long that it is the only one on its page.
    for (const size of [3_000, 3_000, 3_000])
      journal.append(null, { type: 'warning.raised', code: 'test', message: 'x'.repeat(size) });
    await journal.commit('synced');
    await journal.close();
    truncateSync(journal.file, statSync(journal.file).size - PAGE);
    const outcome = repairSession({ project, session: journal.session });
    expect(outcome.lostEvents.map(({ seq }) => seq)).toEqual([3]);
    expect(outcome.events).toBe(2);
  });

  test('is refused for each zeroed sector of the index of blocks', async () => {
    let leaves = 0;
    for (let page = 0; page < whole.length; page += PAGE) {
      if (whole[page] !== INDEX_LEAF || page === 0) continue;
      leaves += 1;
      for (let at = page; at < page + PAGE; at += SECTOR) {
        const bytes = Buffer.from(whole);
        bytes.fill(0, at, at + SECTOR);
        restore(bytes);
        await expectNothingLostInSilence();
      }
    }
    expect(leaves).toBeGreaterThan(1);
  });
});

describe('LOG-1: the numbers of events', () => {
  test('are never used again when the last one is damaged', async () => {
    restore(whole);
    {
      using db = new DatabaseSync(file);
      db.exec(`UPDATE events SET seq = 0 WHERE seq = ${EVENTS}`);
    }
    expect(await resume()).toEqual({
      refused: expect.stringContaining('part of its journal cannot be read'),
    });
    expect(repairSession({ project, session })).toMatchObject({ events: EVENTS - 1, missingAtEnd: 1 });
    expect(await resume()).toEqual({ refused: 'its end is missing, which is told' });
  });

  test('are told where one is not there and nothing else is wrong', async () => {
    restore(whole);
    {
      using db = new DatabaseSync(file);
      db.exec('DELETE FROM events WHERE seq IN (3, 4)');
    }
    const reader = openReader({ project, session });
    expect([...reader.events()]).toHaveLength(EVENTS - 2);
    expect(reader.damage.map(({ seq }) => seq)).toEqual([3, 4]);
    reader.close();
    expect(await resume()).toEqual({ refused: expect.stringContaining('2 events (3, 4) of its journal') });
  });

  test('of a lost end are not used again, and that is no damage', async () => {
    restore(whole);
    {
      using db = new DatabaseSync(file);
      db.exec(`DELETE FROM events WHERE seq > ${EVENTS - 10}`);
    }
    expect(await resume()).toEqual({ refused: 'its end is missing, which is told' });
    const reader = openReader({ project, session });
    const added = Array.from(reader.events(), ({ seq }) => seq).filter((seq) => seq > EVENTS - 10);
    expect(added).toEqual([EVENTS, EVENTS + 1, EVENTS + 2]);
    expect(reader.damage).toEqual([]);
    reader.close();
  });

  test('that leap far are told without counting to them', async () => {
    restore(whole);
    {
      using db = new DatabaseSync(file);
      db.exec(`UPDATE events SET seq = 4000000000000 WHERE seq = ${EVENTS}`);
    }
    expect(await resume()).toEqual({ refused: expect.stringContaining('cannot be resumed as it is') });
    repairSession({ project, session });
    expect(await resume()).toEqual({ refused: 'its end is missing, which is told' });
    expect(await resume()).toMatchObject({ first: EVENTS });
  });
});
