import { describe, expect, test } from 'vitest';
import { runCheckout } from '../../../../campaigns/checkout/run.ts';

describe('WORK-1: one checkout, several processes with several agents, and a person beside them', () => {
  test('every edit is in its file or was refused with a reason, every commit holds its agent’s paths only', async () => {
    const plan = { way: 'ramet', agents: 2, processes: 2, steps: 60, commits: 0.15, seed: 7 } as const;
    const { problems, edits, commits, lostEdits } = await runCheckout(plan);
    expect(problems).toEqual([]);
    expect([lostEdits, edits.failed, commits.lock, commits.failed]).toEqual([0, 0, 0, 0]);
    expect(edits.done).toBeGreaterThan(20);
    expect(commits.done).toBeGreaterThan(0);
  });
});
