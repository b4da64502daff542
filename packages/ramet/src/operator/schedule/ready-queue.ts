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
  /** Tasks in one shared checkout: there one that names no files runs alone; in worktrees conflicts show in the merge. */
  sharedCheckout: ReadonlySet<string>;
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
  /** Those of them that `newlyReady` has not told. */
  #untold: number[];
  readonly #running: Map<string, TaskNode> = new Map();
  /** Ids of tasks that are done: nobody waits for them. */
  readonly #done: Set<string> = new Set();

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
    this.#untold = [...this.#ready];
  }

  get running(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** How many wait for room, for another's files or for their phase. */
  get waiting(): number {
    return this.#ready.length;
  }

  /** Tasks that wait for nothing but room since the last call; each is told once. */
  newlyReady(): string[] {
    const told: string[] = [];
    this.#untold = this.#untold.filter((position) => {
      const node = this.#nodes[position];
      if (node !== undefined && this.#hasPhaseCome(node)) told.push(node.id);
      return node !== undefined && !this.#hasPhaseCome(node);
    });
    return told;
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
    if (!this.#hasPhaseCome(node)) return false;
    for (const other of this.#running.values()) if (this.#conflict(node, other)) return false;
    return true;
  }

  #hasPhaseCome({ barrier }: TaskNode): boolean {
    return barrier === null || barrier <= (this.#phases[this.#phase] ?? Number.POSITIVE_INFINITY);
  }

  #conflict(one: TaskNode, other: TaskNode): boolean {
    const { sharedCheckout } = this.#options;
    const isOpen = one.files.length === 0 || other.files.length === 0;
    if (isOpen && sharedCheckout.has(one.id) && sharedCheckout.has(other.id)) return true;
    return filesOverlap(one.files, other.files);
  }

  /** A task that another process started is running here too. */
  adopt(id: string): void {
    const node = this.#nodes[this.#position.get(id) ?? -1];
    if (node === undefined) return;
    this.#withdraw(id);
    this.#running.set(id, node);
  }

  /** It may start again: after a failure, or because a person says so. */
  putBack(id: string): void {
    const position = this.#position.get(id);
    this.#running.delete(id);
    if (position === undefined || this.#done.has(id) || this.#unmet[position] !== 0) return;
    if (!this.#ready.includes(position)) this.#ready = merged(this.#ready, [position]);
  }

  /** A running task has ended. After a failure nothing that waits for it starts. */
  finish(id: string, outcome: 'done' | 'failed'): void {
    if (!this.#running.has(id)) throw new Error(`${id} is not running`);
    this.settle(id, outcome);
  }

  /** The same for a task in any state: a person may skip one that has not begun. */
  settle(id: string, outcome: 'done' | 'failed'): void {
    const node = this.#nodes[this.#position.get(id) ?? -1];
    this.#running.delete(id);
    this.#withdraw(id);
    if (node === undefined || outcome === 'failed' || this.#done.has(id)) return;
    this.#done.add(id);
    if (node.barrier !== null) {
      this.#left.set(node.barrier, (this.#left.get(node.barrier) ?? 1) - 1);
      while (this.#phase < this.#phases.length && this.#left.get(this.#phases[this.#phase] ?? 0) === 0)
        this.#phase += 1;
    }
    const freed: number[] = [];
    for (const position of this.#dependents[this.#position.get(id) ?? -1] ?? []) {
      const unmet = (this.#unmet[position] ?? 1) - 1;
      this.#unmet[position] = unmet;
      const dependent = this.#nodes[position];
      if (unmet === 0 && dependent?.held === false && !this.#done.has(dependent.id)) freed.push(position);
    }
    if (freed.length === 0) return;
    this.#ready = merged(
      this.#ready,
      freed.sort((one, other) => one - other),
    );
    this.#untold.push(...freed);
  }

  #withdraw(id: string): void {
    const position = this.#position.get(id);
    const at = position === undefined ? -1 : this.#ready.indexOf(position);
    if (at !== -1) this.#ready.splice(at, 1);
    const untold = position === undefined ? -1 : this.#untold.indexOf(position);
    if (untold !== -1) this.#untold.splice(untold, 1);
  }
}

function merged(one: readonly number[], other: readonly number[]): number[] {
  return [...one, ...other].sort((a, b) => a - b);
}
