import { expect, test } from 'vitest';
import type { AttemptWatch } from '../../../operator/run/ports.ts';
import type { PermissionQuestion } from '../../../permission/broker.ts';
import type { TaskQuestion } from '../../../schema/operator-events.ts';
import { TaskQuestions } from './task-questions.ts';

const asks = (agent: string, parent: string | null = null): PermissionQuestion => ({
  ...{ agent, agentName: null, parent, cwd: '/r', tool: 'Bash', summary: 'make', reason: 'it may write' },
  ...{ suggestedRules: [], input: { command: 'make' } },
});

test('OP-3: a question shows the text that would be written, and an answer is for that text', async () => {
  const asked: TaskQuestion[] = [];
  const watch: AttemptWatch = {
    ...{ started: () => {}, answered: () => {}, rests: () => {} },
    asked: (question) => void asked.push(question),
  };
  const stop = new AbortController();
  const questions = new TaskQuestions();
  questions.watch('s.2', 'T001', watch);
  const write = { ...asks('s.2'), tool: 'Write', summary: '/r/a' };
  const open = ['one', 'two'].map((content) =>
    questions.ask({ ...write, whole: `/r/a {"content":"${content}"}` }, stop.signal).catch(() => 'stopped'),
  );
  expect(asked.map(({ summary }) => summary)).toEqual(['/r/a {"content":"one"}', '/r/a {"content":"two"}']);
  expect(new Set(asked.map(({ id }) => id)).size).toBe(2);
  stop.abort();
  expect(await Promise.all(open)).toEqual(['stopped', 'stopped']);
});

test('OP-3: an answer counts for the try that asked, also after a crash, and not for the next try', async () => {
  const asked: TaskQuestion[] = [];
  const watch: AttemptWatch = {
    ...{ started: () => {}, answered: () => {}, rests: () => {} },
    asked: (question) => void asked.push(question),
  };
  const { signal } = new AbortController();
  const first = new TaskQuestions();
  first.watch('s.2', 'T001', watch);
  first.watch('s.3', 'T001', watch);
  const open = [first.ask(asks('s.2'), signal), first.ask(asks('s.3'), signal)];
  const [one = '', other = ''] = asked.map(({ id }) => id);
  expect(one).not.toBe(other);
  // As a process that resumes the run, with the answer to the first of them.
  const next = new TaskQuestions();
  next.watch('s.2', 'T001', watch);
  next.watch('s.3', 'T001', watch);
  next.expect(one, 'once');
  const again = next.ask(asks('s.3'), signal);
  expect(asked.at(-1)?.id).toBe(other);
  // Of an agent below it.
  expect(await next.ask(asks('s.9', 's.2'), signal)).toEqual({ kind: 'once' });
  expect(next.answer(other, 'denied')).toBe(true);
  expect(await again).toMatchObject({ kind: 'denied' });
  for (const id of [one, other]) expect(first.answer(id, 'once')).toBe(true);
  await Promise.all(open);
});
