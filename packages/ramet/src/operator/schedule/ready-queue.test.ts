import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filesOverlap } from './file-overlap.ts';
import { type QueueOptions, ReadyQueue } from './ready-queue.ts';
import type { TaskGraph, TaskNode } from './task-graph.ts';

const WORKTREES: QueueOptions = { sharedCheckout: new Set() };

function node(id: string, more: Partial<TaskNode> = {}): TaskNode {
  return { id, waits: [], barrier: null, files: [], held: false, ...more };
}

describe('OP-3: the ready queue', () => {
  test('starts what waits for nothing, in the order of the file, within the limit', () => {
    const queue = new ReadyQueue(
      { nodes: [node('a'), node('b', { waits: ['a'] }), node('c'), node('d')] },
      WORKTREES,
    );
    expect(queue.take(2)).toEqual(['a', 'c']);
    expect(queue.take(0)).toEqual([]);
    queue.finish('a', 'done');
    expect(queue.take(9)).toEqual(['b', 'd']);
    expect([...queue.running]).toEqual(['c', 'b', 'd']);
  });

  test('a failure stops only what waits for it', () => {
    const queue = new ReadyQueue(
      { nodes: [node('a'), node('b', { waits: ['a'] }), node('c', { waits: ['b'] }), node('d')] },
      WORKTREES,
    );
    queue.take(1);
    queue.finish('a', 'failed');
    expect(queue.take(9)).toEqual(['d']);
    expect(() => queue.finish('a', 'done')).toThrow(/not running/);
  });

  test('two tasks that name one file never run together', () => {
    const nodes = [
      node('a', { files: ['src/'] }),
      node('b', { files: ['src/x.ts'] }),
      node('c', { files: ['docs/y.md'] }),
    ];
    const queue = new ReadyQueue({ nodes }, WORKTREES);
    expect(queue.take(9)).toEqual(['a', 'c']);
    queue.finish('a', 'done');
    expect(queue.take(9)).toEqual(['b']);
  });

  test('in a shared checkout a task without files runs alone', () => {
    const queue = new ReadyQueue(
      { nodes: [node('a', { files: ['a'] }), node('b'), node('c', { files: ['c'] })] },
      { sharedCheckout: new Set(['a', 'b', 'c']) },
    );
    expect(queue.take(9)).toEqual(['a', 'c']);
    queue.finish('a', 'done');
    expect(queue.take(9)).toEqual([]);
    queue.finish('c', 'done');
    expect(queue.take(9)).toEqual(['b']);
  });

  test('a phase waits for all tasks of earlier ones, and a held task for good', () => {
    const nodes = [
      node('a', { barrier: 1 }),
      node('b', { barrier: 2 }),
      node('c', { barrier: 1 }),
      node('d', { held: true }),
    ];
    const queue = new ReadyQueue({ nodes }, WORKTREES);
    expect(queue.take(9)).toEqual(['a', 'c']);
    queue.finish('a', 'done');
    expect(queue.take(9)).toEqual([]);
    queue.finish('c', 'done');
    expect(queue.take(9)).toEqual(['b']);
    queue.finish('b', 'done');
    expect(queue.take(9)).toEqual([]);
  });
});

/** Graphs whose tasks wait only for earlier ones. */
const graphs: fc.Arbitrary<TaskGraph> = fc
  .array(
    fc.record({
      waits: fc.uniqueArray(fc.nat(30), { maxLength: 4 }),
      phase: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
      files: fc.uniqueArray(fc.constantFrom('a', 'a/b', 'c', 'd/e', 'd/*'), { maxLength: 2 }),
      held: fc.boolean().map((held) => held),
    }),
    { maxLength: 30 },
  )
  .map((tasks) => ({
    nodes: tasks.map(({ waits, phase, files, held }, index) =>
      node(`t${index}`, {
        waits: waits.filter((other) => other < index).map((other) => `t${other}`),
        barrier: phase === null ? null : Math.min(3, phase + Math.floor(index / 10)),
        files,
        held: held && index % 7 === 6,
      }),
    ),
  }));

describe('OP-3: every run of the queue', () => {
  test('respects both gates and the limit, and leaves nothing that could start', () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 1, max: 6 }), fc.array(fc.nat(100)), (graph, width, picks) => {
        const byId = new Map(graph.nodes.map((one) => [one.id, one]));
        const queue = new ReadyQueue(graph, WORKTREES);
        const done = new Set<string>();
        const failed = new Set<string>();
        const mayStart = (one: TaskNode): boolean =>
          !one.held &&
          !done.has(one.id) &&
          !failed.has(one.id) &&
          !queue.running.has(one.id) &&
          one.waits.every((id) => done.has(id)) &&
          graph.nodes.every(
            (other) =>
              one.barrier === null ||
              other.barrier === null ||
              other.barrier >= one.barrier ||
              done.has(other.id),
          ) &&
          [...queue.running].every((id) => !filesOverlap(one.files, byId.get(id)?.files ?? []));
        for (let step = 0; ; step++) {
          const before = graph.nodes.filter(mayStart).map(({ id }) => id);
          const taken = queue.take(width - queue.running.size);
          for (const id of taken) expect(before).toContain(id);
          expect(queue.running.size).toBeLessThanOrEqual(width);
          if (queue.running.size < width) expect(graph.nodes.filter(mayStart)).toEqual([]);
          const running = [...queue.running];
          const pick = picks[step % Math.max(1, picks.length)] ?? 0;
          const id = running[pick % Math.max(1, running.length)];
          if (id === undefined) break;
          queue.finish(id, pick % 10 === 9 ? 'failed' : 'done');
          (pick % 10 === 9 ? failed : done).add(id);
        }
        // What never started waits for something that is held or failed.
        if (failed.size === 0 && graph.nodes.every(({ held }) => !held))
          expect(stuckByCycle(graph, done)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

/** Tasks that did not run though nothing failed: only a phase against a dependency explains that. */
function stuckByCycle({ nodes }: TaskGraph, done: ReadonlySet<string>): string[] {
  const byId = new Map(nodes.map((one) => [one.id, one]));
  const contradicts = nodes.some(({ barrier, waits }) =>
    waits.some((id) => barrier !== null && (byId.get(id)?.barrier ?? 0) > barrier),
  );
  const mixed = nodes.some(({ barrier, waits }) => barrier === null && waits.length > 0);
  return contradicts || mixed ? [] : nodes.filter(({ id }) => !done.has(id)).map(({ id }) => id);
}

describe('files', () => {
  test.each([
    ['src/a.ts', 'src/a.ts', true],
    ['src/', 'src/a.ts', true],
    ['src', 'srcs/a.ts', false],
    ['src/**', 'src/deep/a.ts', true],
    ['src/par*', 'src/parser.ts', true],
    ['src/par*', 'src/other.ts', false],
    ['*.md', 'src/a.ts', true],
    ['docs/{a,b}.md', 'docs/c.md', true],
    ['a.ts', 'b.ts', false],
  ])('%s and %s overlap: %s', (one, other, expected) => {
    expect([filesOverlap([one], [other]), filesOverlap([other], [one])]).toEqual([expected, expected]);
  });
});
