import { describe, expect, test } from 'vitest';
import { countRefusal, foldRefusals, type Refusals, refusalsOfFork, tellsBy } from './agent-state.ts';

const GIT = 'Bash: git stash is refused';

function refusedBy(calls: readonly string[], kind = GIT, before: Refusals = []): Refusals {
  return calls.reduce((refusals, call) => countRefusal(refusals, kind, call), before);
}

describe('FORK-4: refusals of one kind', () => {
  test('the third tells, and no later one does', () => {
    const told = ['1', '2', '3', '4', '5', '6'].map((call, index, calls) =>
      tellsBy(refusedBy(calls.slice(0, index + 1)), call),
    );
    expect(told).toEqual([false, false, true, false, false, false]);
  });

  test('kinds are counted apart, and only the latest fifty are remembered', () => {
    const two = refusedBy(['3'], 'Write: no', refusedBy(['1', '2']));
    expect(two.map(({ count }) => count)).toEqual([2, 1]);
    const kinds = Array.from({ length: 60 }, (_, index) => `Bash: reason ${index}`);
    const many = kinds.reduce<Refusals>((refusals, kind) => countRefusal(refusals, kind, kind), two);
    expect(many.map(({ kind }) => kind)).toEqual(kinds.slice(-50));
  });

  test('a fork that did not see its parent being told is told itself', () => {
    const refusals = refusedBy(['1', '2', '3']);
    const { refusals: unseen = [] } = refusalsOfFork(refusals, new Set(['3', 'agent']));
    expect(tellsBy(countRefusal(unseen, GIT, '4'), '4')).toBe(true);
    const { refusals: seen = [] } = refusalsOfFork(refusals, new Set(['agent']));
    expect(tellsBy(countRefusal(seen, GIT, '4'), '4')).toBe(false);
    expect(refusalsOfFork([], new Set())).toEqual({});
  });

  test('other events leave them as they are', () => {
    const refusals = refusedBy(['1']);
    expect(foldRefusals(refusals, { type: 'tool.started', call: '2', name: 'Bash' })).toBe(refusals);
  });
});
