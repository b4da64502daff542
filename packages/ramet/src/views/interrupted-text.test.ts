import { expect } from 'vitest';
import { RecordedSession } from '../../test/fixtures/recorded-session.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { openReader } from '../journal/sessions.ts';
import { continuationHint, interruptedLines } from './interrupted-text.ts';

test('AGENT-5: what an interruption left undone is named: the prompt, running calls, agents', async ({
  directory,
}) => {
  const session = await RecordedSession.open(directory);
  const main = session.agent(1);
  session.say(main, ['fix the parser']);
  session.exchange(main);
  session.record(main, { type: 'tool.started', call: 'c1', name: 'Bash' });
  session.fork(2, main, 'the lexer');
  session.end(session.fork(3, main, 'done already'));
  await session.journal.close();
  const reader = openReader({ project: directory, session: session.journal.session });
  try {
    expect(interruptedLines(reader, main, true)).toEqual([
      'interrupted: "fix the parser" was not finished',
      '  Bash was running and may have had an effect',
      '  1 agent was at work: .2 the lexer',
    ]);
    expect(interruptedLines(reader, main, false)).toEqual(['interrupted: 1 agent was at work: .2 the lexer']);
    for (const isOpen of [true, false])
      expect(continuationHint(interruptedLines(reader, main, isOpen))).toBe(
        'Enter continues it; or write what to do instead (agents of a killed process continue too)',
      );
    expect(continuationHint(['interrupted: "2 agents were at work: x" was not finished'])).toBe(
      'Enter continues it; or write what to do instead',
    );
  } finally {
    reader.close();
  }
});

test('AGENT-5: a call whose question was open was not run', async ({ directory }) => {
  const session = await RecordedSession.open(directory);
  const main = session.agent(1);
  session.say(main, ['go']);
  session.exchange(main);
  const asked = { type: 'permission.asked', tool: 'Bash', summary: 'x', reason: 'y' } as const;
  session.record(main, { type: 'tool.started', call: 'c1', name: 'Bash' });
  session.record(main, { ...asked, call: 'c1' });
  session.record(main, { type: 'tool.started', call: 'c2', name: 'Write' });
  session.record(main, { ...asked, call: 'c2' });
  session.record(main, { type: 'permission.answered', call: 'c2', answer: 'once', rules: [], reason: null });
  await session.journal.close();
  const reader = openReader({ project: directory, session: session.journal.session });
  expect(interruptedLines(reader, main, true)).toEqual([
    'interrupted: "go" was not finished',
    '  Write was running and may have had an effect',
    '  Bash was not run: you are asked again',
  ]);
  reader.close();
});

test('AGENT-5: of a session that has ended nothing is said', async ({ directory }) => {
  const session = await RecordedSession.open(directory);
  const main = session.agent(1);
  session.say(main, ['hello']);
  session.exchange(main);
  session.end(main);
  await session.journal.close();
  const reader = openReader({ project: directory, session: session.journal.session });
  expect(interruptedLines(reader, main, false)).toEqual([]);
  expect(interruptedLines(reader, main, true)).toEqual(['interrupted: reports of agents were not read yet']);
  reader.close();
});
