import { describe, expect, test } from 'vitest';
import type { AgentOverview } from '../../../journal/projections/status.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import type { AttemptPlace } from './attempt-agents.ts';
import { withEarlierBill } from './resumed-bill.ts';

const usage = { ...NO_USAGE, input_tokens: 10 };

function placeWith(
  status: string,
  running: readonly string[] = [],
): Pick<AttemptPlace, 'running' | 'recorded'> {
  // Only what is read.
  const past = { status, costUsd: 0.25, usage } as AgentOverview;
  return {
    running: () => running.map((name) => ({ name })) as unknown as ReturnType<AttemptPlace['running']>,
    recorded: (name) => (name === 'T1-1' ? past : undefined),
  };
}

async function billOf(
  place: Pick<AttemptPlace, 'running' | 'recorded'>,
  { name = 'T1-1', isResumed = true }: { name?: string; isResumed?: boolean } = {},
): Promise<[number | null, number]> {
  const begin = () => ({ ended: Promise.resolve({ costUsd: 0.5, usage }), stop: () => {} });
  const end = await withEarlierBill({ name, isResumed }, place, begin).ended;
  return [end.costUsd, end.usage.input_tokens];
}

describe('OP-7: what an agent costs that was interrupted and told to resume', () => {
  test('is what both processes have paid', async () => {
    expect(await billOf(placeWith('interrupted'))).toEqual([0.75, 20]);
  });

  test('is not counted twice for one that resumes by itself, has ended, is new or is another', async () => {
    expect(await billOf(placeWith('interrupted', ['T1-1']))).toEqual([0.5, 10]);
    expect(await billOf(placeWith('done'))).toEqual([0.5, 10]);
    expect(await billOf(placeWith('interrupted'), { isResumed: false })).toEqual([0.5, 10]);
    expect(await billOf(placeWith('interrupted'), { name: 'T2-1' })).toEqual([0.5, 10]);
  });
});
