import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TeamMember } from '../../schema/team.ts';
import { claimProblem, cycleWith, endProblem, rightTo, whoToWake } from './task-rules.ts';

const FREE = { number: 7, status: 'pending', owner: null, createdBy: 'ada', blockedBy: [] } as const;

function member(name: string, state: TeamMember['state']): TeamMember {
  return { name, state, agent: null, type: 'teammate', plan: null, unread: 0 };
}

describe('TEAM-3: claims', () => {
  test('a free task can be claimed; every other one says why not', () => {
    expect(claimProblem(FREE, 'bob')).toBeNull();
    expect(claimProblem({ ...FREE, owner: 'bob' }, 'bob')).toBeNull();
    const refused = (change: object): string | null => claimProblem({ ...FREE, ...change }, 'bob');
    expect(refused({ status: 'in_progress', owner: 'ada' })).toBe('task 7 is taken by ada');
    expect(refused({ status: 'in_progress', owner: 'bob' })).toBeNull();
    expect(refused({ owner: 'ada' })).toBe('task 7 is taken: it is assigned to ada');
    expect(refused({ status: 'completed' })).toBe('task 7 is completed');
    expect(refused({ blockedBy: [2, 3] })).toBe('task 7 waits for tasks 2, 3');
  });

  test('only the owner changes a task, before that its maker; the lead may override', () => {
    const owned = { ...FREE, status: 'in_progress', owner: 'bob' } as const;
    expect(rightTo('end', owned, 'bob')).toEqual({ override: false });
    expect(rightTo('end', owned, 'lead')).toEqual({ override: true });
    expect(rightTo('end', owned, 'ada')).toEqual({
      problem: "cannot end task 7: it is bob's; only bob or lead may",
    });
    expect(rightTo('change', FREE, 'ada')).toEqual({ override: false });
    expect(rightTo('change', FREE, 'lead')).toEqual({ override: false });
    expect(rightTo('change', FREE, 'bob')).toMatchObject({
      problem: expect.any(String),
    });
  });

  test('a task that nobody works on cannot be ended', () => {
    expect(rightTo('end', FREE, 'bob')).toEqual({ problem: endProblem(FREE) });
    expect(rightTo('change', { ...FREE, createdBy: 'lead' }, 'bob')).toEqual({
      problem: 'cannot change task 7: it is made by lead; only lead may',
    });
    expect(endProblem(FREE)).toBe('task 7 is pending: claim it first (status in_progress)');
    expect(endProblem({ ...FREE, status: 'completed' })).toBe('task 7 is completed already');
  });
});

describe('TEAM-3: cycles', () => {
  test('are found with the path from the task back to itself', () => {
    const needs: Record<number, number[]> = { 1: [2], 2: [3], 3: [] };
    expect(cycleWith(3, 1, (task) => needs[task] ?? [])).toEqual([3, 1, 2, 3]);
    expect(cycleWith(1, 3, (task) => needs[task] ?? [])).toBeNull();
    expect(cycleWith(5, 5, () => [])).toEqual([5, 5]);
  });

  test('a path is one of edges that exist, and without one the graph stays without cycles', () => {
    const edges = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(edges, (wanted) => {
        const needs = new Map<number, number[]>();
        const of = (task: number): number[] => needs.get(task) ?? [];
        for (const [task, needed] of wanted) {
          const path = cycleWith(task, needed, of);
          if (path === null) needs.set(task, [...of(task), needed]);
          else {
            expect([path[0], path[1], path.at(-1)]).toEqual([task, needed, task]);
            for (let at = 1; at + 1 < path.length; at++) expect(of(path[at] ?? 0)).toContain(path[at + 1]);
          }
        }
        for (const task of needs.keys()) expect(reaches(task, task, of)).toBe(false);
      }),
    );
  });
});

function reaches(
  from: number,
  to: number,
  of: (task: number) => number[],
  seen = new Set<number>(),
): boolean {
  return of(from).some((next) => {
    if (next === to) return true;
    if (seen.has(next)) return false;
    seen.add(next);
    return reaches(next, to, of, seen);
  });
}

describe('TEAM-3: who is woken', () => {
  const members = [
    member('lead', 'idle'),
    member('ada', 'idle'),
    member('bob', 'working'),
    member('cy', 'idle'),
  ];

  test('the owner of a freed task if idle, and one idle member for each task without owner', () => {
    expect(whoToWake([{ owner: 'cy' }], members)).toEqual(['cy']);
    expect(whoToWake([{ owner: 'bob' }], members)).toEqual([]);
    expect(whoToWake([{ owner: null }], members)).toEqual(['ada']);
    expect(whoToWake([{ owner: 'cy' }, { owner: null }, { owner: null }], members)).toEqual(['cy', 'ada']);
    expect(whoToWake([], members)).toEqual([]);
  });
});
