import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  messageAppended,
  recorded,
  requestStarted,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { entriesOf, itemsOf } from '../../system/persistent.ts';
import { RecordedConversations } from '../../views/recorded-conversations.ts';
import { newAgentState } from './agent-state.ts';
import { applyEvent, foldAgent } from './apply-event.ts';

const prefix = { model: 'm', thinking: null, tools: ['t1', 't2'], system: ['s'] };

const events = recorded(
  ['a', { type: 'prefix.frozen', ...prefix }],
  ['a', messageAppended({ blocks: ['u1', 'u2'], shared: 1 })],
  ['b', messageAppended({ blocks: ['other agent'] })],
  ['a', requestStarted({ request: 'r1' })],
  ['a', responseCompleted({ request: 'r1', blocks: ['text', 'call'] })],
  ['a', toolStarted('call-1', 'Bash')],
  ['a', toolStarted('call-2', 'Read')],
  ['a', toolCompleted('call-2', 'Read')],
  ['a', messageAppended({ cause: 'tool_results', blocks: ['result'] })],
  ['a', requestStarted({ request: 'r2', turn: 2 })],
  ['a', responseCompleted({ request: 'r2', blocks: ['refused'], kept: false })],
);

describe('the state of an agent', () => {
  test('is empty where nothing is recorded', () => {
    expect(foldAgent([], 'a')).toEqual(newAgentState('a'));
  });

  test('holds its prefix and its messages in order, kept responses among them', () => {
    const state = foldAgent(events, 'a');
    expect(state.prefix).toEqual(prefix);
    expect(itemsOf(state.messages)).toEqual([
      { role: 'user', blocks: ['u1', 'u2'], shared: 1, cause: 'prompt' },
      { role: 'assistant', blocks: ['text', 'call'], shared: 0, cause: 'response' },
      { role: 'user', blocks: ['result'], shared: 0, cause: 'tool_results' },
    ]);
  });

  test('tells calls that may have taken effect from those that never began', () => {
    const state = foldAgent(events, 'a');
    expect([...entriesOf(state.calls).keys()]).toEqual(['call-1', 'call-2']);
    expect(entriesOf(state.results)).toEqual(new Map([['call-2', 'result-of-call-2']]));
  });

  test('BG-3: names what has told it something, also after a compaction', () => {
    const replaced: JournalEvent = { type: 'conversation.replaced', cause: 'compaction', messages: [] };
    const usage = { ...NO_USAGE, web_search_requests: 1 };
    const told = [
      ...[messageAppended({ blocks: ['u1', 'u2'] }), toolCompleted('1', 'Read'), toolCompleted('2', 'Bash')],
      ...[toolCompleted('3', 'Read'), messageAppended({ cause: 'delivery' }), replaced],
      ...[responseCompleted({ usage }), messageAppended({ blocks: ['typed'] })],
    ];
    const state = foldAgent(recorded(...told.map((event): ['a', JournalEvent] => ['a', event])), 'a');
    expect(state.sources).toEqual(['Bash', 'Read', 'messages', 'web_search']);
  });

  test('has the last request, answered or not', () => {
    expect(foldAgent(events, 'a').lastRequest).toMatchObject({ request: 'r2', turn: 2 });
    expect(foldAgent(events.slice(0, 3), 'a').lastRequest).toBeNull();
  });

  test('knows the version of every file that an answered call last read, wrote or removed', () => {
    const read = { type: 'file.read', call: 'c1', path: '/w/a', version: 'a1' } as const;
    const changed = { type: 'file.changed', call: 'c2', path: '/w/b', before: null, after: 'b1' } as const;
    const state = foldAgent(
      recorded(
        ['a', read],
        ['a', { ...read, path: '/w/gone', version: 'g1' }],
        ['a', toolCompleted('c1', 'Read')],
        ['a', changed],
        ['a', { ...changed, path: '/w/gone', before: 'g1', after: null }],
        ['a', toolCompleted('c2', 'Write')],
        ['a', { ...read, call: 'killed', version: 'a2' }],
      ),
      'a',
    );
    expect(entriesOf(state.seen)).toEqual(
      new Map([
        ['/w/a', 'a1'],
        ['/w/b', 'b1'],
      ]),
    );
  });

  test('says why the last response stopped until something follows it', () => {
    const response = responseCompleted({ stopReason: 'max_tokens' });
    const stop = (...after: JournalEvent[]) =>
      foldAgent(recorded(['a', response], ...after.map((event): ['a', JournalEvent] => ['a', event])), 'a')
        .openStop;
    expect(stop()).toBe('max_tokens');
    expect(stop(requestStarted({ request: 'r2' }))).toBe('max_tokens');
    expect(stop(messageAppended({ cause: 'notice' }))).toBeNull();
    expect(stop({ type: 'agent.ended', status: 'done', cause: null, message: null })).toBeNull();
  });

  test('has ended until something says that it works again', () => {
    const end: JournalEvent = { type: 'agent.ended', status: 'interrupted', cause: null, message: null };
    const ended = (...after: JournalEvent[]) =>
      foldAgent(recorded(...[end, ...after].map((event): ['a', JournalEvent] => ['a', event])), 'a').ended;
    expect(ended()).toBe(true);
    expect(ended({ type: 'permission.changed', mode: 'plan' })).toBe(true);
    expect(ended(requestStarted({ request: 'r2', source: 'refresh' }))).toBe(true);
    expect(ended(requestStarted({ request: 'r2' }))).toBe(false);
    expect(ended(messageAppended({ cause: 'prompt' }))).toBe(false);
    expect(ended({ type: 'agent.resumed', from: 'interrupted' })).toBe(false);
    expect(ended({ type: 'status.changed', status: 'running', cause: null })).toBe(false);
    expect(ended(messageAppended({ cause: 'prompt' }), end)).toBe(true);
  });

  test('has the permission mode that was set last', () => {
    const started = recorded(['a', agentStarted({ permissionMode: 'bypassPermissions' })]);
    expect(foldAgent(started, 'a').permissionMode).toBe('bypassPermissions');
    const changed = recorded(['a', agentStarted()], ['a', { type: 'permission.changed', mode: 'plan' }]);
    expect(foldAgent(changed, 'a').permissionMode).toBe('plan');
  });

  test('is the same when it is read in two parts', () => {
    const first = foldAgent(events.slice(0, 5), 'a');
    expect(events.slice(5).reduce(applyEvent, first)).toEqual(foldAgent(events, 'a'));
  });

  test('RES-7: has every prompt, also those that a compaction has replaced, and can show what it replaced', () => {
    const compacted: JournalEvent = {
      type: 'conversation.replaced',
      cause: 'compaction',
      messages: [{ role: 'user', blocks: ['summary'], shared: 0 }],
    };
    const long = recorded(
      ['a', messageAppended({ blocks: ['p1'] })],
      ['a', responseCompleted({ blocks: ['r1'] })],
      ['b', compacted],
      ['a', compacted],
      ['a', messageAppended({ blocks: ['p2'] })],
    );
    const state = foldAgent(long, 'a');
    expect(itemsOf(state.messages).map(({ blocks }) => blocks)).toEqual([['summary'], ['p2']]);
    expect(itemsOf(state.prompts).map(({ blocks }) => blocks)).toEqual([['p1'], ['p2']]);
    const conversations = new RecordedConversations();
    for (const event of long) conversations.take(event);
    const { replaced } = conversations.of('a');
    expect(replaced.map((messages) => messages.map(({ blocks }) => blocks))).toEqual([[['p1'], ['r1']]]);
  });

  test('RES-7: a response beside the conversation changes nothing of it', () => {
    const aside = { source: 'compaction', request: 'r9' } as const;
    const before = foldAgent(events, 'a');
    const mark = { message: 9, block: 0, ttl: '5m' } as const;
    const question = requestStarted({ ...aside, breakpoints: [mark] });
    const both = [question, responseCompleted({ ...aside, kept: false })];
    const after = both.reduce((state, event) => applyEvent(state, { time: 0, agent: 'a', event }), before);
    const { messages, answeredBreakpoints, measured, openStop } = after;
    expect({ messages, answeredBreakpoints, measured, openStop }).toEqual({
      messages: before.messages,
      answeredBreakpoints: before.answeredBreakpoints,
      measured: before.measured,
      openStop: before.openStop,
    });
    expect(after.requests).toBe(before.requests + 1);
  });

  test('RES-7: knows how long the conversation is from the last response that says', () => {
    const silent = responseCompleted({ usage: NO_USAGE, costUsd: null });
    const state = foldAgent(
      recorded(['a', messageAppended()], ['a', responseCompleted()], ['a', messageAppended()], ['a', silent]),
      'a',
    );
    expect(state.measured).toEqual({ tokens: 15, messages: 2 });
  });

  test('RES-7: lists files by when they were last touched; a changed one stays changed', () => {
    const touch = (path: string, changed: boolean): JournalEvent =>
      changed
        ? { type: 'file.changed', call: 'c', path, before: null, after: 'v' }
        : { type: 'file.read', call: 'c', path, version: 'v' };
    const state = foldAgent(
      recorded(['a', touch('/w/a', true)], ['a', touch('/w/b', false)], ['a', touch('/w/a', false)]),
      'a',
    );
    expect([...entriesOf(state.touched)]).toEqual([
      ['/w/b', 'read'],
      ['/w/a', 'changed'],
    ]);
  });
});

describe('FORK-2: the state of a fork', () => {
  const inherited: JournalEvent = {
    type: 'conversation.inherited',
    from: 's.1',
    messages: 'list',
    prompt: 'p',
  };

  test("names the block that lists its parent's messages, beside its own", () => {
    const state = foldAgent(recorded(['a', inherited], ['a', messageAppended()]), 'a');
    expect(state.inherited).toBe('list');
    expect(state.messages.length).toBe(1);
    expect(foldAgent(recorded(['b', inherited]), 'a').inherited).toBeNull();
  });

  test('no longer begins with them once its conversation was replaced', () => {
    const replaced: JournalEvent = { type: 'conversation.replaced', cause: 'compaction', messages: [] };
    expect(foldAgent(recorded(['a', inherited], ['a', replaced]), 'a').inherited).toBeNull();
  });
});

describe('AGENT-5: what an agent is still to be told', () => {
  const received = (item: string, from: string | null = 's.2'): JournalEvent => ({
    type: 'message.received',
    item,
    kind: 'notification',
    from,
    blocks: [`block of ${item}`],
  });
  const delivery = (...delivers: string[]) => messageAppended({ cause: 'delivery', delivers });
  const taken = (item: string): JournalEvent => ({ type: 'message.taken', item, call: 'c' });
  const completed: JournalEvent = {
    type: 'tool.completed',
    call: 'c',
    name: 'TaskOutput',
    isError: false,
    result: 'r',
    durationMs: 0,
  };
  const pending = (...events: JournalEvent[]): string[] =>
    foldAgent(recorded(...events.map((event): ['a', JournalEvent] => ['a', event])), 'a').inbox.map(
      ({ item }) => item,
    );

  test('is what has come, in order, with where it is from', () => {
    const events = recorded(['a', received('1')], ['b', received('other')], ['a', received('2', null)]);
    expect(foldAgent(events, 'a').inbox).toEqual([
      { item: '1', kind: 'notification', from: 's.2', blocks: ['block of 1'] },
      { item: '2', kind: 'notification', from: null, blocks: ['block of 2'] },
    ]);
  });

  test('loses what a message delivers and what a tool result has told, and nothing else', () => {
    expect(pending(received('1'), received('2'), received('3'), delivery('1', '3'))).toEqual(['2']);
    expect(pending(received('1'), received('2'), taken('1'), completed)).toEqual(['2']);
    expect(pending(received('1'), messageAppended({ cause: 'tool_results' }))).toEqual(['1']);
    expect(
      pending(received('1'), messageAppended({ cause: 'tool_results', blocks: ['r', 'n'], delivers: ['1'] })),
    ).toEqual([]);
  });

  test('holds each item once, however often and in whatever order it is recorded', () => {
    expect(pending(received('1'), received('1'))).toEqual(['1']);
    expect(pending(received('1'), delivery('1'), received('1'))).toEqual([]);
    expect(pending(taken('1'), completed, received('1'))).toEqual([]);
    expect(pending(received('1'), taken('1'), delivery('1'))).toEqual([]);
  });

  test('keeps what a tool was about to tell when its process was killed', () => {
    expect(pending(received('1'), taken('1'))).toEqual(['1']);
  });

  test('AGENT-7: a message that its sender took back is settled at once', () => {
    expect(pending(received('1'), { type: 'message.taken', item: '1', call: null })).toEqual([]);
  });

  test('outlives a compaction, and is the same when it is read in two parts', () => {
    const replaced: JournalEvent = { type: 'conversation.replaced', cause: 'compaction', messages: [] };
    expect(pending(received('1'), replaced)).toEqual(['1']);
    const events = recorded(['a', received('1')], ['a', received('2')], ['a', delivery('1')]);
    const first = foldAgent(events.slice(0, 1), 'a');
    expect(events.slice(1).reduce(applyEvent, first)).toEqual(foldAgent(events, 'a'));
  });
});
