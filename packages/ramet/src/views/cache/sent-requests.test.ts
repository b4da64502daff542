import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { Conversation, type FrozenMessage, freezeHead } from '../../conversation/conversation.ts';
import { type FrozenBlock, thawBytes } from '../../conversation/frozen-block.ts';
import { openReader } from '../../journal/sessions.ts';
import { PRICES } from '../../model/prices.ts';
import { cacheExplainer } from './cache-explainer.ts';
import type { SentBlock } from './sent-prompt.ts';
import { type PastRequest, readSentRequests } from './sent-requests.ts';

/** The prompt itself, from the bytes of its blocks. */
function promptOf({ prompt, messages }: PastRequest): Conversation {
  const thaw = (blocks: readonly SentBlock[]): FrozenBlock[] => blocks.map(({ bytes }) => thawBytes(bytes));
  const { model, thinking, tools, system } = prompt.head;
  const head = freezeHead({ model, thinking, tools: thaw(tools), system: thaw(system) });
  const sent = prompt.messages
    .slice(0, messages)
    .map(({ role, blocks }): FrozenMessage => ({ role, blocks: thaw(blocks), shared: 0 }));
  return new Conversation(head, sent);
}

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
      const wholes = requests.map((request) =>
        promptOf({ ...request, messages: request.prompt.messages.length }),
      );
      const lengths = wholes.map((whole) => whole.bytesAt(whole.indexOf({ message: 99, block: -1 })));
      expect(
        requests.map(({ prompt }) => prompt.bytesAt(prompt.indexOf({ message: 99, block: -1 }))),
      ).toEqual(lengths);
      const pairs = requests.flatMap(({ prompt }, index) =>
        prompt.links.map((link, at) => [link, wholes[index]?.chain[at]]),
      );
      expect(new Set(pairs.map(String)).size).toBe(new Set(pairs.map(([link]) => link)).size);
      expect(new Set(pairs.map(String)).size).toBe(new Set(pairs.map(([, digest]) => digest)).size);
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

  test('are read without the bytes of what was said', async () => {
    const project = temporaryDirectory();
    const session = await RecordedSession.open(project);
    const main = session.agent(1);
    session.say(main, ['one']);
    session.exchange(main);
    session.say(main, ['two']);
    session.exchange(main);
    await session.journal.close();
    const reader = openReader({ project, session: session.journal.session });
    const read: string[] = [];
    const block = reader.block.bind(reader);
    reader.block = (digest) => {
      read.push(digest);
      return block(digest);
    };
    const sent = readSentRequests(reader);
    expect(sent.requests.map(cacheExplainer(sent, PRICES))).toHaveLength(2);
    expect(read).toEqual([]);
    reader.close();
  });
});
