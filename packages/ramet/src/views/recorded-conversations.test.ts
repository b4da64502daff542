import { join } from 'node:path';
import { expect } from 'vitest';
import { RecordedSession } from '../../test/fixtures/recorded-session.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { foldAgent } from '../journal/projections/apply-event.ts';
import { openReader } from '../journal/sessions.ts';
import { itemsOf } from '../system/persistent.ts';
import { RecordedConversations } from './recorded-conversations.ts';

test('UI-1: one reading gives of every agent what a reading of its own would', async ({ directory }) => {
  const project = join(directory, 'project');
  const session = await RecordedSession.open(project);
  const main = session.agent(1);
  session.say(main, ['Hand it out.']);
  session.exchange(main);
  const forks = [2, 3, 4].map((number) => session.fork(number, main, `task ${number}`));
  for (const turn of [1, 2]) for (const id of forks) session.exchange(id, { answer: `${id} ${turn}` });
  session.replace(main, 'compaction', ['summary']);
  session.exchange(main, { answer: 'All done.' });
  await session.journal.close();
  const reader = openReader({ project, session: session.journal.session });
  const conversations = new RecordedConversations();
  for (const recorded of reader.events()) {
    conversations.take(recorded);
  }
  for (const id of [main, ...forks]) {
    const { messages, inherited } = foldAgent(reader.events({ agent: id }), id);
    expect(conversations.of(id)).toMatchObject({ messages: itemsOf(messages), inherited });
  }
  expect(conversations.of(main).replaced).toHaveLength(1);
  expect(conversations.of('nobody.1')).toEqual({ inherited: null, replaced: [], messages: [] });
  reader.close();
});
