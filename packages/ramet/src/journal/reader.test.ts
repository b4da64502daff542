import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { digestOf } from '../system/digest.ts';
import type { Journal, JournalReader } from './journal.ts';
import { createSession, openReader } from './sessions.ts';

async function writtenAndRead(): Promise<{ journal: Journal; reader: JournalReader }> {
  const project = temporaryDirectory();
  const journal = await createSession({ project, cwd: '/' });
  onTestFinished(() => journal.close());
  await note(journal, 'first');
  const reader = openReader({ project, session: journal.session });
  onTestFinished(() => reader.close());
  return { journal, reader };
}

async function note(journal: Journal, text: string): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ type: 'text', text }));
  journal.storeBlock(digestOf(bytes), bytes);
  journal.append(null, { type: 'warning.raised', code: 'note', message: text });
  await journal.commit('written');
}

function messages(reader: JournalReader): string[] {
  return Array.from(reader.events(), ({ event }) => ('message' in event ? String(event.message) : ''));
}

test('what is read together is read as it was when that began', async () => {
  const { journal, reader } = await writtenAndRead();
  using other = new DatabaseSync(journal.file);
  const insert = other.prepare('INSERT INTO events (time, agent, data) VALUES (0, NULL, ?)');
  const seen = reader.together(() => {
    const before = messages(reader);
    insert.run(JSON.stringify({ type: 'warning.raised', code: 'note', message: 'second' }));
    return [...before, ...messages(reader)];
  });
  expect(seen).toEqual(['first', 'first']);
  expect(messages(reader)).toEqual(['first', 'second']);
});

test('reading together ends also when the work fails, and can be done again', async () => {
  const { journal, reader } = await writtenAndRead();
  const missing = (): unknown => reader.together(() => reader.block(digestOf('nothing')));
  expect(missing).toThrow('does not hold block');
  expect(missing).toThrow('does not hold block');
  await note(journal, 'second');
  expect(reader.together(() => messages(reader))).toEqual(['first', 'second']);
});
