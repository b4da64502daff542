/** What is wrong with tasks and members that a change names, in words; null for nothing. */
import type { TeamTask } from '../../schema/team.ts';
import { cycleWith, listed } from '../rules/task-rules.ts';
import type { Roster } from './roster.ts';
import type { TaskTable } from './task-table.ts';

export class TaskChecks {
  readonly #table: TaskTable;
  readonly #roster: Roster;

  constructor(table: TaskTable, roster: Roster) {
    [this.#table, this.#roster] = [table, roster];
  }

  cycle({ number, status }: TeamTask, needs: readonly number[]): string | null {
    if (needs.length > 0 && status !== 'pending')
      return `task ${number} is ${status}: only pending tasks get dependencies`;
    for (const needed of needs) {
      const path = cycleWith(number, needed, (task) => this.#table.needsOf(task));
      if (path !== null)
        return `task ${number} cannot need task ${needed}: that is a cycle (${path.join(' needs ')})`;
    }
    return null;
  }

  missing(needs: readonly number[]): string | null {
    const missing = needs.filter((number) => this.#table.find(number) === undefined);
    const are = missing.length === 1 ? 'is' : 'are';
    return missing.length === 0
      ? null
      : `there ${are} no ${listed(missing)} to depend on; ${this.#numbers()}`;
  }

  unknown(number: number): string {
    return `there is no task ${number}; ${this.#numbers()}`;
  }

  #numbers(): string {
    const last = this.#table.lastNumber();
    return last === 0 ? 'this team has no tasks' : `the tasks are numbered up to ${last}`;
  }

  ownerProblem(owner: string | undefined): string | null {
    if (owner === undefined) return null;
    const names = this.#roster.names();
    return names.includes(owner) ? null : `"${owner}" takes no tasks; there are ${names.join(', ')}`;
  }
}
