import { describe, expect, test } from 'vitest';
import { madeRun, madeTask, startedRun, taskChange } from '../../../../../test/fixtures/operator-run.ts';
import {
  agentStarted,
  childOrigin,
  recorded,
  responseCompleted,
} from '../../../../../test/recorded-events.ts';
import { NO_RUN } from '../../../../operator/run/operator-state.ts';
import type { JournalEvent, RecordedEvent } from '../../../../schema/events.ts';
import type { AttemptChange } from '../../../../schema/operator-events.ts';
import { MemberBills } from './member-bills.ts';

type Entry = [agent: string | null, event: JournalEvent];

const isMember = childOrigin({ member: true });
const begins = (agent: string): Entry => [
  agent,
  agentStarted({ parent: 's.1', name: agent, origin: isMember }),
];
const asks = (agent: string, costUsd: number): Entry => [agent, responseCompleted({ costUsd })];
const ends = (agent: string, status: 'done' | 'interrupted' = 'done'): Entry => [
  agent,
  { type: 'agent.ended', status, cause: null, message: null },
];
const tries = (task: string, change: Partial<AttemptChange>): Entry => [
  null,
  taskChange(task, 'running', { attempt: { number: 1, ...change } }),
];
const claims = (agent: string, task: string): Entry => tries(task, { agent, isolation: 'team' });

/** What is in the journal now. */
function journal(): { bills: MemberBills; add(...entries: Entry[]): void; costOf(task: string): unknown } {
  const entries: Entry[] = [begins('ada'), begins('bob')];
  const events = (): RecordedEvent[] => recorded(...entries);
  const bills = new MemberBills(NO_RUN, (read) => read(events()));
  return {
    bills,
    add: (...more) => void entries.push(...more),
    costOf: (task) => {
      const { costUsd, idle } = bills.of(task, 1);
      return [costUsd, idle.costUsd];
    },
  };
}

describe('OP-8, OP-6: what tries of a team cost', () => {
  test('is what the member spent in the turn in which it claimed the task, with the agents that it started', () => {
    const { add, costOf } = journal();
    add(asks('ada', 1), asks('bob', 32), claims('ada', 'T1'), asks('ada', 2));
    add(['s.9', agentStarted({ parent: 'ada', name: 'x', origin: childOrigin() })], asks('s.9', 4));
    add(
      ['s.8', agentStarted({ parent: 's.1', name: 'T1-1-review', origin: childOrigin() })],
      asks('s.8', 64),
    );
    add(claims('bob', 'T2'), ends('ada'));
    expect(costOf('T1')).toEqual([7, 0]);
    add(asks('bob', 8), ends('bob'));
    expect(costOf('T2')).toEqual([40, 0]);
    // It is judged again.
    expect(costOf('T2')).toEqual([40, 0]);
  });

  test('a turn without a task is paid by no task, and once by the run', () => {
    const { add, costOf } = journal();
    add(asks('bob', 1), ends('bob'), asks('ada', 2), claims('ada', 'T1'), ends('ada'));
    expect(costOf('T1')).toEqual([2, 1]);
    add(tries('T1', { state: 'ended' }), asks('ada', 4), ends('ada'));
    add(asks('bob', 8), claims('bob', 'T2'), ends('bob'));
    expect(costOf('T2')).toEqual([8, 4]);
    // One that nobody claimed.
    add(tries('T2', { state: 'ended' }), asks('ada', 16), ends('ada'));
    expect(costOf('T3')).toEqual([0, 16]);
  });

  test('after a kill a member that resumes spends for the task that it holds, and no longer for one that is over', () => {
    const { add, costOf } = journal();
    add(asks('ada', 1), claims('ada', 'T1'), asks('ada', 2), asks('bob', 4), claims('bob', 'T2'));
    // Killed: no turn has ended. What bob completed is taken before it resumes.
    expect(costOf('T2')).toEqual([4, 0]);
    add(tries('T2', { state: 'ended' }));
    add(
      asks('bob', 8),
      ends('bob'),
      asks('ada', 16),
      ends('ada', 'interrupted'),
      asks('ada', 32),
      ends('ada'),
    );
    expect(costOf('T1')).toEqual([51, 8]);
    // Killed before the end of T1 was on record: ada has claimed the next one meanwhile.
    add(asks('ada', 64), claims('ada', 'T3'), ends('ada'));
    expect(costOf('T1')).toEqual([51, 8]);
    expect(costOf('T3')).toEqual([64, 0]);
  });

  test('a claim that is on record only after the end of its turn counts', () => {
    const { add, costOf } = journal();
    add(asks('ada', 1), ends('ada'), claims('ada', 'T1'));
    expect(costOf('T1')).toEqual([1, 0]);
  });

  test('what earlier processes have recorded is paid; what is unknown stays unknown', () => {
    const entries = [begins('ada'), asks('ada', 1), ends('ada'), asks('ada', 2), claims('ada', 'T2')];
    const paid = new MemberBills(NO_RUN, (read) => read(recorded(...entries))).of('T1', 1);
    const state = madeRun(
      startedRun([madeTask('T1')]),
      taskChange('T1', 'done', { attempt: { number: 1, state: 'passed', ...paid } }),
    );
    const bills = new MemberBills(state, (read) => read(recorded(...entries)));
    expect(bills.of('T2', 1)).toMatchObject({ costUsd: 2, idle: { costUsd: 0 } });
    entries.push(['ada', responseCompleted({ costUsd: null })]);
    expect(bills.of('T2', 1)).toMatchObject({ costUsd: null, idle: { costUsd: 0 } });
  });
});
