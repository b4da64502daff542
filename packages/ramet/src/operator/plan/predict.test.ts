import { describe, expect, test } from 'vitest';
import { type TaskGraph, taskGraph } from '../schedule/task-graph.ts';
import { readMarkdown } from '../tasks/markdown/read-markdown.ts';
import { settleTasks } from '../tasks/settle-tasks.ts';
import { forecast } from './predict.ts';
import { type Simulation, simulate } from './simulate.ts';

function graphOf(text: string, optional = false): TaskGraph {
  return taskGraph(settleTasks(readMarkdown(text, { file: 'tasks.md', bullets: false }), { folder: '' }), {
    optional,
  });
}

function waitsOf(text: string): Record<string, string> {
  return Object.fromEntries(graphOf(text).nodes.map(({ id, waits }) => [id, waits.join(',')]));
}

describe('OP-3: what a task waits for', () => {
  test('is the order of the file where it says nothing, and only what it says otherwise', () => {
    expect(
      waitsOf(
        '- [ ] T1 a\n- [ ] T2 [P] b\n- [ ] T3 [P] c\n- [ ] T4 d\n- [ ] T5 e (depends on T1)\n- [ ] T6 f\n',
      ),
    ).toEqual({
      ...{ T1: '', T2: 'T1', T3: 'T1', T4: 'T2,T3', T5: 'T1', T6: 'T5' },
    });
  });

  test('starts again from nothing in each phase', () => {
    const { nodes } = graphOf('## Phase 1: A\n- [ ] T1 a\n- [ ] T2 b\n## Phase 2: B\n- [ ] T3 c\n');
    expect(nodes.map(({ id, waits, barrier }) => [id, waits, barrier])).toEqual([
      ['T1', [], 1],
      ['T2', ['T1'], 1],
      ['T3', [], 2],
    ]);
  });

  test('goes through parents, leaves out what is done, optional or cancelled, and holds what is deferred', () => {
    const text =
      '- [ ] 1. A\n  - [x] 1.1 a\n  - [ ] 1.2 b\n  - [ ]* 1.3 c\n- [ ] 2. B\n  - _Depends: 1_\n  - [ ] 2.1 d\n    - _Depends: none_\n- [>] 3. C\n';
    const { nodes } = graphOf(text);
    expect(nodes.map(({ id, waits, held }) => [id, waits, held])).toEqual([
      ['1.2', [], false],
      ['2.1', ['1.2'], false],
      ['3', ['2.1'], true],
    ]);
    expect(graphOf(text, true).nodes.map(({ id }) => id)).toEqual(['1.2', '1.3', '2.1', '3']);
  });
});

function simulated(graph: TaskGraph, width: number, fileGate: boolean): Simulation {
  return simulate(graph, { width, fileGate, spanOf: () => ({ work: 1, land: 0 }) });
}

const DIAMOND =
  '- [ ] T1 a\n- [ ] T2 b (depends on T1)\n- [ ] T3 c (depends on T1)\n- [ ] T4 d (depends on T2, T3)\n';

describe('OP-7: a plan', () => {
  test('has order, critical path, time and cost by width, and a recommendation', () => {
    const plan = forecast(graphOf(DIAMOND), 'claude-sonnet-5');
    expect(plan.order).toEqual([['T1'], ['T2', 'T3'], ['T4']]);
    expect(plan.criticalPath).toHaveLength(3);
    expect(plan.criticalPath.at(-1)).toBe('T4');
    expect(plan.widths.map(({ width, seconds }) => [width, seconds.likely])).toEqual([
      [1, 1_440],
      [2, 1_080],
      [4, 1_080],
      [8, 1_080],
      [16, 1_080],
    ]);
    expect(plan.recommended).toBe(2);
    for (const { seconds, usd } of plan.widths) {
      expect(seconds.low).toBeLessThan(seconds.high);
      expect(usd.planned?.low).toBeGreaterThan(0);
      expect(usd.planned?.low).toBeLessThan(usd.planned?.high ?? 0);
    }
  });

  test('a launch that is not planned for the cache costs more when many start at once', () => {
    const wide = Array.from({ length: 16 }, (_, n) => `- [ ] T${n} [P] x\n`).join('');
    const { widths } = forecast(graphOf(wide), 'claude-sonnet-5');
    const [one, , , , sixteen] = widths;
    expect(one?.usd.unplanned).toEqual(one?.usd.planned);
    expect(sixteen?.usd.unplanned?.likely).toBeGreaterThan(sixteen?.usd.planned?.likely ?? 0);
    expect(sixteen?.usd.planned).toEqual(one?.usd.planned);
  });

  test('an unknown price is unknown, and what waits for a deferred task is named', () => {
    const plan = forecast(graphOf('- [>] T1 a\n- [ ] T2 b (depends on T1)\n'), 'nobody-knows');
    expect(plan.widths[0]?.usd).toEqual({ planned: null, unplanned: null });
    expect(plan.stuck).toEqual(['T1', 'T2']);
  });

  test('tasks that touch one file take turns', () => {
    const graph = graphOf('- [ ] T1 [P] a in src/x.ts\n- [ ] T2 [P] b in src/x.ts\n');
    expect(simulated(graph, 4, true).end).toBe(2);
    expect(simulated(graph, 4, false).end).toBe(1);
  });

  test('no schedule beats the critical path or an even share, and none is worse than one after the other', () => {
    const text = Array.from(
      { length: 60 },
      (_, n) => `- [ ] T${n} x${n < 3 ? '' : ` (depends on T${Math.floor(n / 3)}, T${n - 3})`}\n`,
    ).join('');
    const graph = graphOf(text);
    const longest = simulated(graph, Number.POSITIVE_INFINITY, false).end;
    for (const width of [1, 2, 4, 8, 16]) {
      const { end, starts } = simulated(graph, width, true);
      expect(starts.size).toBe(60);
      expect(end).toBeGreaterThanOrEqual(Math.max(longest, Math.ceil(60 / width)));
      expect(end).toBeLessThanOrEqual(60);
    }
  });
});
