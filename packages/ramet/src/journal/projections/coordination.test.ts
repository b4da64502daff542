import { describe, expect, test } from 'vitest';
import type { JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentStatus, CoordinatorPhase } from '../../schema/status.ts';
import { type Coordination, CoordinationFold, unverified } from './coordination.ts';

const LEAD = 's.1';

function coordinationOf(events: readonly RecordedEvent[]): Coordination {
  const fold = new CoordinationFold(LEAD);
  for (const event of events) fold.take(event);
  return fold.value;
}

function recorded(...given: [agent: string, event: JournalEvent][]): RecordedEvent[] {
  return given.map(([agent, event], index) => ({ seq: index + 1, time: 0, agent, event }));
}

function started(phase: CoordinatorPhase | undefined, name: string | null = null): JournalEvent {
  const origin = { kind: 'fresh', call: 'c', description: 'd', background: true, depth: 1 } as const;
  return {
    ...{ type: 'agent.started', parent: LEAD, agentType: 'general-purpose', name, model: 'm' },
    ...{ permissionMode: 'bubble', maxTurns: 1, budget: {}, origin: { ...origin, ...(phase && { phase }) } },
  };
}

const endedAs = (status: AgentStatus): JournalEvent => ({
  ...{ type: 'agent.ended', status, cause: null, message: null },
});
const ended: JournalEvent = endedAs('done');
const phase = (from: CoordinatorPhase | null, to: CoordinatorPhase): [string, JournalEvent] => [
  LEAD,
  { type: 'phase.changed', from, to, note: to },
];

describe('COORD-1: the work of a coordinator on record', () => {
  test('phase, workers and their ends; agents of a program are no workers', () => {
    const events = recorded(
      phase(null, 'research'),
      ['s.2', started('research', 'ada')],
      ['s.3', started(undefined)],
      ['s.2', ended],
    );
    expect(coordinationOf(events)).toMatchObject({
      phase: 'research',
      since: 1,
      workers: [{ id: 's.2', name: 'ada', phase: 'research', given: 2, ended: { seq: 4, status: 'done' } }],
    });
    expect(coordinationOf([])).toMatchObject({ phase: 'research', since: 0, workers: [] });
  });

  test('what verification has written is its own from then on, in every later phase', () => {
    const writes: JournalEvent = { type: 'verification.writes', paths: ['/r/a.log'] };
    const events = recorded(phase('implementation', 'verification'), ['s.3', writes]);
    expect([...coordinationOf(events).proofs]).toEqual(['/r/a.log']);
    const later = recorded(
      phase(null, 'verification'),
      ['s.3', writes],
      phase('verification', 'implementation'),
    );
    expect([...coordinationOf(later).proofs]).toEqual(['/r/a.log']);
  });

  test('what is implemented stays unverified until a worker of a later verification has ended', () => {
    const implemented = [
      phase('synthesis', 'implementation'),
      ['s.2', started('implementation')],
      ['s.2', ended],
    ] as [string, JournalEvent][];
    const open = (...more: [string, JournalEvent][]): string[] =>
      unverified(coordinationOf(recorded(...implemented, ...more))).map(({ id }) => id);
    expect(open()).toEqual(['s.2']);
    expect(open(phase('implementation', 'verification'), ['s.3', started('verification')])).toEqual(['s.2']);
    expect(open(['s.3', started('verification')], ['s.3', ended])).toEqual([]);
    // Who implemented and then looks into something has still implemented.
    const again: JournalEvent = { type: 'worker.continued', worker: 's.2', phase: 'research' };
    expect(open([LEAD, again], ['s.2', ended])).toEqual(['s.2']);
    const more: JournalEvent = { type: 'worker.continued', worker: 's.2', phase: 'implementation' };
    expect(open(['s.3', started('verification')], ['s.3', ended], [LEAD, more], ['s.2', ended])).toEqual([
      's.2',
    ]);
  });

  test.each(['failed', 'cancelled', 'timed_out', 'interrupted'] as const)(
    'a worker of a verification that ends as %s has verified nothing; its work to implement counts',
    (status) => {
      const events = (more: readonly [string, JournalEvent][]): RecordedEvent[] =>
        recorded(
          phase('synthesis', 'implementation'),
          ['s.2', started('implementation')],
          ['s.2', endedAs(status)],
          phase('implementation', 'verification'),
          ['s.3', started('verification')],
          ['s.3', endedAs(status)],
          ...more,
        );
      const open = (...more: [string, JournalEvent][]): string[] =>
        unverified(coordinationOf(events(more))).map(({ id }) => id);
      expect(open()).toEqual(['s.2']);
      // It resumes and ends as it should, or another one does.
      const resumed: JournalEvent = { type: 'worker.continued', worker: 's.3', phase: 'verification' };
      expect(open([LEAD, resumed], ['s.3', ended])).toEqual([]);
      expect(open(['s.4', started('verification')], ['s.4', ended])).toEqual([]);
    },
  );
});
