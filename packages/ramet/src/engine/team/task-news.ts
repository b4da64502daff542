/** Tells members that tasks have become free: those at work between their calls, others when they wake. */
import { LEAD, type TeamTask } from '../../schema/team.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { Agent } from '../agent/agent.ts';

interface NewsHost {
  readonly team: StoredTeam;
  /** A member at work that still reads; null for any other. */
  reader(name: string): Agent | null;
  wake(name: string): Promise<void>;
}

export class TaskNews {
  readonly #host: NewsHost;
  /** What the engine has to say to members that are about to wake. */
  readonly #notices = new Map<string, string[]>();
  /** Tasks that became free while everybody was at work. */
  readonly #untold = new Set<number>();
  /** Claims that were named to their owners, and to a person: each once. */
  readonly #reminded = new Set<string>();
  readonly #left = new Set<string>();

  constructor(host: NewsHost) {
    this.#host = host;
  }

  /** Where all are at work, the next that goes idle is told. */
  tellFree(task: number, wake: readonly string[]): void {
    if (wake.length === 0) this.#untold.add(task);
    for (const name of wake) {
      const notice = `Task ${task} is free now. Claim it if nobody has, or end your turn.`;
      const reader = this.#host.reader(name);
      if (reader !== null) {
        reader.receive('notification', null, notice);
        continue;
      }
      this.#notices.set(name, [...(this.#notices.get(name) ?? []), notice]);
      void this.#host.wake(name);
    }
  }

  tellReleased({ released, wake }: ReturnType<StoredTeam['tasks']['releaseDead']>): void {
    for (const { number } of released) this.tellFree(number, wake);
  }

  /** One task that became free while everybody was at work. */
  tellOfFree(name: string): void {
    const { roster, tasks } = this.#host.team;
    if (this.#untold.size === 0 || roster.find(name)?.state !== 'idle') return;
    const free = tasks.free(name);
    for (const task of this.#untold) {
      const isForIt = free.includes(task);
      // One that is assigned to another stays.
      if (isForIt || tasks.find(task)?.status !== 'pending') this.#untold.delete(task);
      if (!isForIt) continue;
      this.tellFree(task, [name]);
      return;
    }
  }

  /** A killed process may not have told of what became free: an idle member for each task is told. */
  tellAllFree(): void {
    const { tasks } = this.#host.team;
    const free = tasks
      .all()
      .filter(({ status, blockedBy }) => status === 'pending' && blockedBy.length === 0);
    const open = free.filter(({ owner }) => owner === null);
    for (const name of tasks.whoWakesFor(free, LEAD)) {
      const task = free.find(({ owner }) => owner === name) ?? open.shift();
      if (task !== undefined) this.tellFree(task.number, [name]);
    }
  }

  has(name: string): boolean {
    return this.#notices.has(name);
  }

  tell(agent: Agent, name: string): void {
    for (const text of this.#notices.get(name) ?? []) agent.receive('notification', null, text);
    this.#notices.delete(name);
    // With what wakes it: a request for that alone nobody wants.
    const open = this.#host.team.tasks.heldBy(name);
    for (const number of open.filter((each) => isNew(this.#reminded, { number: each, owner: name })))
      agent.receive('notification', null, stillYours(number));
  }

  /** The run of the lead is over. Nobody else sees that a member has forgotten a claim. */
  warnOfLeft(lead: Agent): void {
    const open = this.#host.team.tasks.all().filter(({ status }) => status === 'in_progress');
    const left = open.filter(({ owner }) => owner !== null && this.#host.reader(owner) === null);
    const news = left.filter((task) => isNew(this.#left, task));
    if (news.length === 0) return;
    const named = news.map(({ number, owner }) => `task ${number} of ${owner}`).join(', ');
    const asks = 'ramet team send NAME "..." asks its owner';
    lead.warn('tasks_left', `nobody works on what is still in progress: ${named}; ${asks}`);
  }
}

export function stillYours(task: number): string {
  return `Task ${task} is still in progress, and yours: complete it, mark it failed with a note, or give it back (status pending).`;
}

function isNew(told: Set<string>, { number, owner }: Pick<TeamTask, 'number' | 'owner'>): boolean {
  const claim = `${number} ${owner}`;
  const isFirst = !told.has(claim);
  told.add(claim);
  return isFirst;
}
