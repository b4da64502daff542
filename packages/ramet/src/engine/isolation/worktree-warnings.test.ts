import { describe, expect, test } from 'vitest';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { worktreeWarnings } from '../children/run-child.ts';

type Child = Parameters<typeof worktreeWarnings>[0];

function child({ isOwn = true, notice = 'no OS sandbox' as string | null } = {}) {
  const clock = simulatedClock();
  const log: string[] = [];
  const sandbox = {
    isolationNotice: async () => {
      log.push('tried');
      return notice;
    },
  };
  const workspace = { warnings: ['no packages'] };
  // The part of an agent that is read.
  const agent = { directory: { workspace, isOwn }, runtime: { clock, sandbox } } as unknown as Child;
  const warnings = worktreeWarnings(agent, (code, message) => log.push(`${code}: ${message}`));
  return { clock, log, warnings };
}

const INCOMPLETE = 'worktree_incomplete: no packages';
const TOLD = [INCOMPLETE, 'tried', 'no_sandbox: no OS sandbox'];

describe('WORK-9: that no sandbox holds the commands of an agent in a worktree', () => {
  test('is found out after the first requests of those who start together, and told once', async () => {
    const { clock, log, warnings } = child();
    expect(log).toEqual([INCOMPLETE]);
    await clock.advance(1_000);
    await warnings.tellRest();
    expect(log).toEqual(TOLD);
  });

  test('is told at the latest when the agent has ended, and no timer stays', async () => {
    const { clock, log, warnings } = child();
    await Promise.all([warnings.tellRest(), warnings.tellRest()]);
    expect(log).toEqual(TOLD);
    expect(clock.due()).toEqual([]);
  });

  test('is not said where a sandbox holds them, or the worktree is the parent’s', async () => {
    const held = child({ notice: null });
    await held.warnings.tellRest();
    expect(held.log).toEqual([INCOMPLETE, 'tried']);
    const shared = child({ isOwn: false });
    await shared.warnings.tellRest();
    expect(shared.log).toEqual([]);
    expect(shared.clock.due()).toEqual([]);
  });
});
