/**
 * Which tasks may start now: a queue, not waves. A task starts when everything it waits for is done, its phase has come, and no
 * running task touches one of its files. Each task and each edge is handled once, so two thousand tasks cost no more per
 * step than forty.
 *
 * 1. Tasks start in the order of the file, as far as the gates let them.
 * 2. What waits for a failed task never starts; everything else goes on.
 */
import { filesOverlap } from './file-overlap.ts';
import type { TaskGraph, TaskNode } from './task-graph.ts';

export interface QueueOptions {
  /** In one shared checkout a task that names no files runs alone; in worktrees conflicts show in the merge. */
  sharedCheckout: boolean;
}

export class ReadyQueue {
  readonly #options: QueueOptions;
  readonly #position: Map<string, number>;
  readonly #nodes: readonly TaskNode[];
  readonly #unmet: number[];
  readonly #dependents: number[][];
  /** Tasks that are not done, by phase. */
  readonly #left: Map<number, number> = new Map();
  readonly #phases: number[];
  #phase = 0;
  /** Positions of tasks whose dependencies are met, in order. */
  #ready: number[] = [];
  readonly #running: Map<string, TaskNode> = new Map();

  constructor({ nodes }: TaskGraph, options: QueueOptions) {
    this.#options = options;
    this.#nodes = nodes;
    this.#position = new Map(nodes.map(({ id }, position) => [id, position]));
    this.#unmet = nodes.map(() => 0);
    this.#dependents = nodes.map(() => []);
    for (const [position, { waits, barrier }] of nodes.entries()) {
      if (barrier !== null) this.#left.set(barrier, (this.#left.get(barrier) ?? 0) + 1);
      for (const id of waits) {
        const other = this.#position.get(id);
        if (other === undefined) continue;
        this.#unmet[position] = (this.#unmet[position] ?? 0) + 1;
        this.#dependents[other]?.push(position);
      }
    }
    this.#phases = [...this.#left.keys()].sort((one, other) => one - other);
    this.#ready = nodes.flatMap(({ held }, position) =>
      this.#unmet[position] === 0 && !held ? [position] : [],
    );
  }

  get running(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** At most `room` tasks that may start; from now on they are running. */
  take(room: number): string[] {
    const taken: string[] = [];
    for (let index = 0; index < this.#ready.length && taken.length < room; ) {
      const node = this.#nodes[this.#ready[index] ?? -1];
      if (node === undefined || !this.#mayStart(node)) index += 1;
      else {
        this.#ready.splice(index, 1);
        this.#running.set(node.id, node);
        taken.push(node.id);
      }
    }
    return taken;
  }

  #mayStart(node: TaskNode): boolean {
    if (node.barrier !== null && node.barrier > (this.#phases[this.#phase] ?? Number.POSITIVE_INFINITY))
      return false;
    for (const other of this.#running.values()) if (this.#conflict(node, other)) return false;
    return true;
  }

  #conflict(one: TaskNode, other: TaskNode): boolean {
    if (this.#options.sharedCheckout && (one.files.length === 0 || other.files.length === 0)) return true;
    return filesOverlap(one.files, other.files);
  }

  /** A running task has ended. After a failure nothing that waits for it starts. */
  finish(id: string, outcome: 'done' | 'failed'): void {
    const node = this.#running.get(id);
    if (node === undefined) throw new Error(`${id} is not running`);
    this.#running.delete(id);
    if (outcome === 'failed') return;
    if (node.barrier !== null) {
      this.#left.set(node.barrier, (this.#left.get(node.barrier) ?? 1) - 1);
      while (this.#phase < this.#phases.length && this.#left.get(this.#phases[this.#phase] ?? 0) === 0)
        this.#phase += 1;
    }
    const freed: number[] = [];
    for (const position of this.#dependents[this.#position.get(id) ?? -1] ?? []) {
      const unmet = (this.#unmet[position] ?? 1) - 1;
      this.#unmet[position] = unmet;
      if (unmet === 0 && this.#nodes[position]?.held === false) freed.push(position);
    }
    if (freed.length > 0)
      this.#ready = merged(
        this.#ready,
        freed.sort((one, other) => one - other),
      );
  }
}

function merged(one: readonly number[], other: readonly number[]): number[] {
  return [...one, ...other].sort((a, b) => a - b);
}
