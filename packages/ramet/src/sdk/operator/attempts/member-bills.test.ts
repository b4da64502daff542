import { describe, expect, test } from 'vitest';
import { madeRun, madeTask, startedRun, taskChange } from '../../../../test/fixtures/operator-run.ts';
import { NO_RUN } from '../../../operator/run/operator-state.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import { MemberBills, type TeamSpending } from './member-bills.ts';

const usage = (output_tokens: number): typeof NO_USAGE => ({ ...NO_USAGE, output_tokens });

/** What members have spent, in dollars and in tokens of output; those that are `busy` work on other tries. */
function spending(spent: Record<string, number>, ...busy: string[]): TeamSpending {
  const members = Object.entries(spent).map(([id, costUsd]) => ({
    ...{ id: id as AgentId, costUsd, usage: usage(costUsd) }, // any text will do
  }));
  return { members, busy: new Set(busy) };
}

describe('OP-8, OP-6: what tries of a team cost', () => {
  test('the next try that ends pays for members that claimed nothing, and for nobody twice', () => {
    const bills = new MemberBills(NO_RUN);
    expect(bills.of('T1-1', 'm1', spending({ m1: 10, m2: 5 }))).toEqual({ costUsd: 15, usage: usage(15) });
    expect(bills.of('T2-1', 'm1', spending({ m1: 20, m2: 5 }))).toMatchObject({ costUsd: 10 });
    expect(bills.of('T3-1', 'm2', spending({ m1: 20, m2: 9 }))).toMatchObject({ costUsd: 4 });
    // It is judged again.
    expect(bills.of('T3-1', 'm2', spending({ m1: 20, m2: 11 }))).toMatchObject({ costUsd: 6 });
  });

  test('who works on another try pays for itself; a try that nobody claimed pays for who was woken', () => {
    const bills = new MemberBills(NO_RUN);
    expect(bills.of('T1-1', 'm1', spending({ m1: 10, m2: 5 }, 'm2'))).toMatchObject({ costUsd: 10 });
    expect(bills.of('T2-1', null, spending({ m1: 10, m2: 5, m3: 2 }, 'm2'))).toMatchObject({ costUsd: 2 });
    expect(bills.of('T3-1', 'm2', spending({ m1: 10, m2: 7, m3: 2 }))).toMatchObject({ costUsd: 7 });
  });

  test('what earlier processes have recorded is paid; what is unknown stays unknown', () => {
    const paid = { number: 1, name: 'T1-1', agent: 'm1', isolation: 'team', costUsd: 15 } as const;
    const state = madeRun(
      startedRun([madeTask('T1')]),
      taskChange('T1', 'running', { attempt: { ...paid, state: 'running' } }),
      taskChange('T1', 'done', { attempt: { ...paid, state: 'passed', usage: usage(15) } }),
    );
    const bills = new MemberBills(state);
    expect(bills.of('T2-1', 'm2', spending({ m1: 10, m2: 9 }))).toMatchObject({ costUsd: 4 });
    const [unknown] = spending({ m1: 1 }).members;
    const members = unknown === undefined ? [] : [{ ...unknown, costUsd: null }];
    expect(bills.of('T3-1', 'm2', { members, busy: new Set() })).toMatchObject({ costUsd: null });
  });
});
