import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyEvents } from '../../../test/fixtures/event-sequences.ts';
import {
  messageAppended,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import type { JournalEvent, RecordedEvent } from '../../schema/events.ts';
import { entriesOf, itemsOf } from '../../system/persistent.ts';
import { type AgentState, newAgentState } from './agent-state.ts';
import { applyEvent } from './apply-event.ts';
import { recordedAgent, recordedAgents } from './recorded-agents.ts';

const apply = (state: AgentState, event: JournalEvent): AgentState =>
  applyEvent(state, { agent: state.agent, time: 1, event });

const fold = (events: readonly JournalEvent[]): AgentState => events.reduce(apply, newAgentState('a'));

describe('applying an event', () => {
  test('leaves the state before it as it was, and begins again from any of them', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, at) => {
        const states = [newAgentState('a')];
        for (const event of events)
          states.push(apply(deepFreeze(states.at(-1) ?? newAgentState('a')), event));
        const from = at % states.length;
        expect(events.slice(from).reduce(apply, structuredClone(states[from] ?? newAgentState('a')))).toEqual(
          states.at(-1),
        );
      }),
    );
  });

  test('LOG-1: gives plain data: what a clone holds is the same', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const state = fold(events);
        expect(structuredClone(state)).toEqual(state);
      }),
    );
  });

  test('FORK-4: forks have what their parent had when they were forked, in one reading or by themselves', () => {
    fc.assert(
      fc.property(anyEvents, anyEvents, anyEvents, (before, own, after) => {
        const inherited: JournalEvent = {
          type: 'conversation.inherited',
          from: 'a',
          messages: 'list',
          prompt: 'p',
        };
        const entries: [string, JournalEvent][] = [
          ...before.map((event): [string, JournalEvent] => ['a', event]),
          ['b', inherited],
          ...after.map((event): [string, JournalEvent] => ['a', event]),
          ...own.map((event): [string, JournalEvent] => ['b', event]),
        ];
        const events = entries.map(
          ([agent, event], index): RecordedEvent => ({ seq: index + 1, time: 1, agent, event }),
        );
        const read = (agent: string) => events.filter((recorded) => recorded.agent === agent);
        const fork = recordedAgents(events).get('b');
        expect(recordedAgent(read, 'b')).toEqual(fork);
        const begun = recordedAgent(read, 'b', before.length + 2);
        const parent = fold(before);
        expect([itemsOf(begun.prompts), entriesOf(begun.calls), entriesOf(begun.seen)]).toEqual([
          itemsOf(parent.prompts),
          entriesOf(parent.calls),
          entriesOf(parent.seen),
        ]);
        expect(begun).toMatchObject({ agent: 'b', requests: 0, todos: [], inbox: [], measured: null });
      }),
    );
  });

  test('costs what the event holds, however long the agent has worked', () => {
    let state = newAgentState('a');
    for (let turn = 0; turn < 1_000; turn++) state = oneTurn(turn).reduce(apply, state);
    expect(state.messages.length).toBe(2_000);
    const known = objectsIn(state);
    const copied = oneTurn(1_000).map((event) => {
      const next = apply(state, event);
      return entriesCopied(next, known);
    });
    // The fields of the state, a tail of the list, and the way to one key.
    expect(Math.max(...copied)).toBeLessThan(250);
  });
});

function oneTurn(turn: number): JournalEvent[] {
  const call = `call ${turn}`;
  const path = `/w/${turn}`;
  return [
    responseCompleted({ request: `s.1/${turn}`, blocks: [`answer ${turn}`] }),
    toolStarted(call, 'Read'),
    { type: 'file.read', call, path, version: 'v' },
    { type: 'file.changed', call, path, before: null, after: 'w' },
    { type: 'message.received', item: `item ${turn}`, kind: 'message', from: null, blocks: ['b'] },
    toolCompleted(call, 'Read'),
    messageAppended({ cause: 'tool_results', blocks: [`result ${turn}`], delivers: [`item ${turn}`] }),
  ];
}

function objectsIn(value: unknown, found: Set<unknown> = new Set()): Set<unknown> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found;
  found.add(value);
  for (const each of value instanceof Map ? value.values() : Object.values(value)) objectsIn(each, found);
  return found;
}

/** How many entries the objects have that were not there before. */
function entriesCopied(value: unknown, known: ReadonlySet<unknown>): number {
  if (typeof value !== 'object' || value === null || known.has(value)) return 0;
  const entries: unknown[] = value instanceof Map ? [...value.values()] : Object.values(value);
  return entries.reduce<number>((sum, each) => sum + entriesCopied(each, known), entries.length);
}

function deepFreeze<Value>(value: Value): Value {
  for (const each of objectsIn(value)) if (!(each instanceof Map)) Object.freeze(each);
  return value;
}
