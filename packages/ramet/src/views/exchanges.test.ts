import { expect } from 'vitest';
import { RecordedSession } from '../../test/fixtures/recorded-session.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { openReader } from '../journal/sessions.ts';
import { lastExchanges } from './exchanges.ts';

test('UI-3: the last exchanges have what was said, also what a compaction replaced', async ({
  directory,
}) => {
  const session = await RecordedSession.open(directory);
  const main = session.agent(1);
  session.say(main, ['<environment>', 'first'], 1);
  session.exchange(main, { answer: 'one' });
  session.exchange(main, { answer: 'one, in the end' });
  session.replace(main, 'compaction', ['summary']);
  session.say(main, ['second']);
  session.exchange(main, { answer: '  \n' });
  const fork = session.fork(2, main, 'not for the main agent');
  session.exchange(fork, { answer: 'of a fork' });
  session.say(main, ['third']);
  await session.journal.close();
  const reader = openReader({ project: directory, session: session.journal.session });
  try {
    expect(lastExchanges(reader, main, 9)).toMatchObject([
      { number: 1, prompt: 'first', answer: 'one, in the end', calls: 0 },
      { number: 2, prompt: 'second', answer: null },
      { number: 3, prompt: 'third', answer: null },
    ]);
    expect(lastExchanges(reader, main, 1)).toMatchObject([{ number: 3, prompt: 'third' }]);
  } finally {
    reader.close();
  }
});
