import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { openReader } from '../../journal/sessions.ts';
import { promptOf, readSentRequests } from './sent-requests.ts';

describe('LOG-1: requests as they were sent', () => {
  test('have the prompts that were recorded: of forks, after a replacement, and while the agent talks on', async () => {
    const project = temporaryDirectory();
    const session = await RecordedSession.open(project);
    const main = session.agent(1);
    session.say(main, ['one', 'two'], 1);
    session.exchange(main);
    const fork = session.fork(2, main, 'a part');
    session.exchange(fork);
    session.say(fork, ['more']);
    session.exchange(fork);
    session.replace(main, 'compaction', ['a summary']);
    session.exchange(main);
    session.replace(main, 'fallback', ['a summary'], { model: 'claude-opus-5' });
    session.exchange(main);
    await session.journal.close();
    const reader = openReader({ project, session: session.journal.session });
    try {
      const recorded = Array.from(reader.events(), ({ event }) => event).flatMap((event) =>
        event.type === 'request.started' ? [[event.request, event.prompt]] : [],
      );
      const { requests, agents } = readSentRequests(reader);
      expect(requests.map((request) => [request.id, promptOf(request).digest])).toEqual(recorded);
      expect(recorded).toHaveLength(5);
      expect(agents.get(fork)).toEqual({ id: fork, parent: main, type: 'fork' });
    } finally {
      reader.close();
    }
  });

  test('are one request however often it was tried, and say how that ended', async () => {
    const project = temporaryDirectory();
    const session = await RecordedSession.open(project);
    const main = session.agent(1);
    session.say(main, ['one']);
    const request = session.ask(main);
    const failed = {
      type: 'request.failed',
      request,
      attempt: 1,
      code: 'overloaded',
      status: 529,
      message: 'later',
      retryInMs: 1,
      usage: null,
      costUsd: 0,
    } as const;
    session.record(main, failed);
    await session.journal.commit('written');
    const reader = openReader({ project, session: session.journal.session });
    try {
      expect(readSentRequests(reader).requests).toMatchObject([
        { attempts: 1, failure: 'overloaded', answer: null },
      ]);
      session.ask(main, { request: { request, attempt: 2 } });
      session.answer(main, request, { firstTokenMs: 50, response: { durationMs: 80 } });
      await session.journal.close();
      const completed = [...reader.events({ type: 'response.completed' })].at(-1)?.time ?? 0;
      const [only, ...others] = readSentRequests(reader).requests;
      expect(others).toEqual([]);
      expect(only).toMatchObject({ attempts: 2, failure: null });
      expect(only?.answer?.beganAt).toBe(completed - 30);
    } finally {
      reader.close();
    }
  });
});
