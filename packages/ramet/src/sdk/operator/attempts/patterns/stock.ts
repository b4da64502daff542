/** Worktrees for tasks that start next, made one at a time while others work. */
import { stockPool } from '../../../../git/managed-worktrees.ts';
import type { WorktreePlace } from '../../../../git/shapes.ts';
import type { OperatorRun } from '../../../../schema/operator-events.ts';
import { giveWay } from '../../../../system/give-way.ts';

export class WorktreeStock implements AsyncDisposable {
  readonly #place: WorktreePlace;
  #wanted: { count: number; base: string } = { count: 0, base: '' };
  #isOver = false;
  #work: Promise<void> | null = null;

  constructor(place: WorktreePlace) {
    this.#place = place;
  }

  expect({ isolation }: OperatorRun, count: number, base: string): void {
    if (isolation !== 'worktree') return;
    this.#wanted = { count, base };
    this.#work ??= this.#fill().finally(() => {
      this.#work = null;
    });
  }

  /** Never rejects: an agent that finds nothing ready gets a new worktree. */
  async #fill(): Promise<void> {
    try {
      do await giveWay();
      while (!this.#isOver && (await stockPool(this.#place, this.#wanted)));
    } catch {
      // As above.
    }
  }

  /** What is under way is finished: nothing is left half-made. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }
}
