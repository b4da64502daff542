import { describe, expect, test } from 'vitest';
import { MADE_RUN } from '../../../test/fixtures/operator-run.ts';
import type { OperatorRun } from '../../schema/operator-events.ts';
import type { OperateOrder } from './operate-order.ts';
import { changeOf, joinedRules } from './resumed-run.ts';

const RUN: OperatorRun = { ...MADE_RUN, rules: { deny: ['Write(x/**)'] } };
const changed = (order: OperateOrder, rules = {}) => changeOf(order, RUN, { rules, cwd: '/srv' });

describe('OP-2: what a resumed run is asked for', () => {
  test('nothing changes where nothing is said, or the same', () => {
    expect(changed({})).toEqual({});
    expect(changed({ into: 'main', policy: 'best-effort', isolation: 'worktree', optional: false })).toEqual(
      {},
    );
    expect(changed({}, { deny: ['Write(x/**)'] })).toEqual({});
  });

  test('what may change does', () => {
    expect(changed({ maxBudgetUsd: 9, parallel: 2, retries: 0, model: 'opus', marks: false })).toEqual({
      ...{ budget: { usd: 9 }, parallel: 2, width: 2, retries: 0, model: 'opus', marks: false },
    });
    expect(changed({ check: false })).toEqual({ check: null });
    expect(changed({ check: 'make' })).toEqual({ check: { command: 'make', timeoutMs: 60_000 } });
    expect(changed({ checkSeconds: 5 })).toEqual({ check: { command: 'npm test', timeoutMs: 5_000 } });
    expect(changed({ reviewModel: 'haiku', resolveBudgetUsd: 1, report: 'r.md' })).toEqual({
      ...{ models: { reviewer: 'haiku' }, resolveBudgetUsd: 1, report: '/srv/r.md' },
    });
  });

  test('rules of the run stay, and others come to them', () => {
    expect(changed({}, { allow: ['Bash(make)'], deny: ['Edit(y)'] })).toEqual({
      rules: { allow: ['Bash(make)'], ask: [], deny: ['Write(x/**)', 'Edit(y)'] },
    });
    expect(joinedRules(undefined, {})).toBeUndefined();
  });

  test.each([
    [{ into: 'other' }, 'into'],
    [{ policy: 'all', strategy: 'squash' }, 'policy, strategy'],
    [{ attempts: 7, isolation: 'clone' }, 'attempts, isolation'],
    [{ review: ['code-review'], tag: 'x' }, 'review, tag'],
    [{ optional: true, bullets: true, parallel: 'auto' }, 'optional, bullets, parallel auto'],
  ] as const)('%o cannot change, and is refused in one line', (order, names) => {
    expect(() => changed(order)).toThrow(
      `a run that is resumed keeps what it began with, so this cannot be changed: ${names}; leave it out, or start a new run`,
    );
  });
});
