import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import type { JournalEvent } from '../schema/events.ts';
import { NO_USAGE } from '../schema/usage.ts';
import { digestOf } from '../system/digest.ts';
import { itemsOf } from '../system/persistent.ts';
import { witnessPath } from './integrity.ts';
import { foldAgent } from './projections/apply-event.ts';
import { repairSession } from './repair-session.ts';
import { sessionPath } from './session-file.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-repair-'));
afterAll(() => rmSync(project, { recursive: true }));

const block = (text: string): Buffer => Buffer.from(JSON.stringify({ type: 'text', text }));
const message = (text: string): JournalEvent => ({
  type: 'message.appended',
  role: 'user',
  cause: 'prompt',
  blocks: [digestOf(block(text))],
  shared: 0,
});

/** Two agents, that many messages each, in turn; closed. */
async function conversation(messages: number, size = 5): Promise<string> {
  const journal = await createSession({ project, cwd: '/w', title: 'Talk' });
  for (let number = 1; number <= messages; number++) {
    for (const agent of ['s.1', 's.2']) {
      const text = `${agent} says ${number} ${'x'.repeat(size)}`;
      journal.storeBlock(digestOf(block(text)), block(text));
      journal.append(agent, message(text));
    }
    // So that events and blocks lie side by side in the file, as they do when agents work.
    if (number % 10 === 0) await journal.commit('written');
  }
  await journal.commit('synced');
  await journal.close();
  return journal.session;
}

function change(session: string, sql: string): void {
  using db = new DatabaseSync(sessionPath(project, session));
  db.exec(sql);
}

function said(session: string, agent: string): number {
  const reader = openReader({ project, session });
  const { messages } = foldAgent(reader.events(), agent);
  for (const { blocks } of itemsOf(messages)) for (const digest of blocks) reader.block(digest);
  expect(reader.damage).toEqual([]);
  reader.close();
  return messages.length;
}

/** A loss is reported by the first resume, and by no later one. */
async function resumes(session: string, told: RegExp | null): Promise<void> {
  for (const expected of [told, null]) {
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    const { journal, reader, endIsMissing } = await resumeSession({ project, session, onWarning });
    expect(endIsMissing).toBe(expected !== null);
    expect(warnings).toEqual(expected === null ? [] : [expect.stringMatching(expected)]);
    reader.close();
    await journal.close();
  }
}

describe('LOG-1: repairing a session', () => {
  test('leaves a whole one as it is', async () => {
    const session = await conversation(3);
    const before = readFileSync(sessionPath(project, session));
    expect(repairSession({ project, session })).toMatchObject({
      events: 6,
      blocks: 6,
      kept: null,
      lostBlocks: 0,
    });
    expect(readFileSync(sessionPath(project, session)).equals(before)).toBe(true);
  });

  test('ends the conversation of one agent before the event that it lost, and keeps the other whole', async () => {
    const session = await conversation(5);
    change(session, "UPDATE events SET data = replace(data, 'prompt', 'notice') WHERE seq = 5");
    const outcome = repairSession({ project, session });
    expect(outcome).toMatchObject({ events: 9, lostBlocks: 0, missingAtEnd: 0 });
    expect(outcome.lostEvents.map(({ seq }) => seq)).toEqual([5]);
    expect([...outcome.cut]).toEqual([['s.1', 5]]);
    expect(existsSync(outcome.kept ?? '')).toBe(true);
    expect([said(session, 's.1'), said(session, 's.2')]).toEqual([2, 5]);
    await resumes(session, /was repaired, and event 5 could not be saved: .* check the files/);
  });

  test('ends it before a message whose block is forged', async () => {
    const session = await conversation(4);
    change(session, "UPDATE blocks SET bytes = CAST('forged' AS BLOB) WHERE rowid = 6");
    const outcome = repairSession({ project, session });
    expect(outcome).toMatchObject({ lostBlocks: 1, blocks: 7, lostEvents: [] });
    expect([...outcome.cut]).toEqual([['s.2', 6]]);
    expect([said(session, 's.1'), said(session, 's.2')]).toEqual([4, 2]);
    await resumes(session, / 1 block could not be saved/);
  });

  test('cuts nothing for an event that is no part of a conversation', async () => {
    const session = await conversation(2);
    const { journal, reader } = await resumeSession({ project, session });
    journal.append('s.1', { type: 'status.changed', status: 'running', cause: null });
    journal.append('s.1', message('s.1 says 1 xxxxx'));
    await journal.commit('written');
    reader.close();
    await journal.close();
    change(session, "UPDATE events SET data = replace(data, 'running', 'waiting') WHERE seq = 5");
    const outcome = repairSession({ project, session });
    expect(outcome).toMatchObject({ cut: new Map() });
    expect(outcome.kept).not.toBeNull();
    expect(said(session, 's.1')).toBe(3);
  });

  test('keeps what was paid on the bill', async () => {
    const session = await conversation(1);
    const { journal, reader } = await resumeSession({ project, session });
    const usage = { ...NO_USAGE, output_tokens: 2 };
    journal.append('s.1', message('s.1 says 1 xxxxx'));
    journal.append('s.1', {
      ...{ type: 'response.completed', request: 'r', messageId: 'm', model: 'x', stopReason: 'end_turn' },
      ...{ blocks: [digestOf(block('s.1 says 1 xxxxx'))], kept: true, usage, costUsd: 5 },
      ...{ firstTokenMs: 1, durationMs: 1, rate: {} },
    });
    await journal.commit('written');
    reader.close();
    await journal.close();
    change(session, "UPDATE events SET data = replace(data, 'prompt', 'notice') WHERE seq = 3");
    repairSession({ project, session });
    const again = openReader({ project, session });
    const [response] = again.events({ type: 'response.completed' });
    again.close();
    expect(response?.event).toMatchObject({ kept: false, costUsd: 5, usage });
  });

  test('saves the rest where pages of the file are gone', async () => {
    const session = await conversation(300, 300);
    const file = sessionPath(project, session);
    const bytes = readFileSync(file);
    for (const text of ['s.1 says 200', 's.2 says 50 ']) {
      const leaf = bytes.indexOf(text) & ~4095;
      bytes.fill(0xff, leaf, leaf + 64);
    }
    writeFileSync(file, bytes);
    const outcome = repairSession({ project, session });
    expect(outcome.lostBlocks).toBeGreaterThan(0);
    expect(outcome.events + outcome.lostEvents.length).toBe(600);
    expect(said(session, 's.1')).toBeGreaterThan(5);
    await resumes(session, / and \d+ blocks? could not be saved/);
    using db = new DatabaseSync(file);
    expect(db.prepare('PRAGMA integrity_check').get()?.integrity_check).toBe('ok');
  });

  test.each([0.25, 0.5, 0.75])(
    'saves what a file still holds that was cut to %d of its size',
    async (part) => {
      const session = await conversation(600, 300);
      const file = sessionPath(project, session);
      const whole = readFileSync(file);
      const bytes = whole.subarray(0, Math.floor(whole.length * part));
      writeFileSync(file, bytes);
      const outcome = repairSession({ project, session });
      expect(outcome.events + outcome.lostEvents.length).toBe(1_200);
      expect(outcome.events).toBeGreaterThan(1_200 * (part - 0.1));
      expect(outcome.blocks).toBeGreaterThan(1_200 * (part - 0.1));
      expect(readFileSync(outcome.kept ?? '').equals(bytes)).toBe(true);
      expect(said(session, 's.1')).toBeGreaterThan(600 * (part - 0.1));
      await resumes(session, /could not be saved/);
    },
  );

  test('saves the events of a cut file that has no page left for its other tables', async () => {
    const session = await conversation(4);
    const file = sessionPath(project, session);
    writeFileSync(file, readFileSync(file).subarray(0, 10_000));
    expect(repairSession({ project, session })).toMatchObject({ events: 8, lostEvents: [], blocks: 0 });
  });

  test('counts as lost after the last event that is left no more than one, where nothing tells how many', async () => {
    const session = await conversation(600, 300);
    const file = sessionPath(project, session);
    rmSync(witnessPath(file));
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length / 2));
    const { events, lostEvents } = repairSession({ project, session });
    expect(lostEvents.map(({ seq }) => seq)).toEqual([events + 1]);
  });

  test('says how much there is of a file of which no event is left, and leaves it', async () => {
    const session = await conversation(300, 300);
    const file = sessionPath(project, session);
    const bytes = readFileSync(file).subarray(0, 5_000).fill(0x41, 4_096);
    writeFileSync(file, bytes);
    expect(() => repairSession({ project, session })).toThrow(
      `nothing of session ${session} can be saved: no event can be read in the 5000 bytes of ${file}, which stays as it is`,
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test('is refused while the session is written, and where nothing can be read', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    expect(() => repairSession({ project, session: journal.session })).toThrow('is being written by');
    await journal.close();
    writeFileSync(sessionPath(project, 'zzzzzzzz'), 'not a database'.repeat(100));
    expect(() => repairSession({ project, session: 'zzzzzzzz' })).toThrow(
      'nothing of session zzzzzzzz can be saved: ',
    );
    expect(() => repairSession({ project, session: 'yyyyyyyy' })).toThrow('there is no session yyyyyyyy');
    expect(readdirSync(project).filter((name) => name.includes('repaired'))).toEqual([]);
  });
});

describe('LOG-1: a journal whose first page is damaged', () => {
  test.each([
    ['in its schema', 100],
    ['in its schema, in part', 3_900],
    ['whole', 0],
  ])('%s is saved', async (_, from) => {
    const session = await conversation(30, 500);
    const file = sessionPath(project, session);
    const bytes = readFileSync(file);
    bytes.fill(0x41, from, 4_096);
    writeFileSync(file, bytes);
    expect(repairSession({ project, session })).toMatchObject({
      ...{ events: 60, blocks: 60, lostEvents: [], lostBlocks: 0 },
      kept: `${file}.damaged`,
    });
    expect(said(session, 's.1')).toBe(30);
    await resumes(session, null);
    expect(existsSync(`${file}.mended`)).toBe(false);
  });
});
