/**
 * Tells members that tasks have become free: those at work between their calls, others when they wake.
 *
 * Invariants
 * 1. Each task that becomes free is told to one member: its owner, or one that nothing else has woken; if all are at work, to the
 *    next that goes idle.
 * 2. What was told to a member that then cannot wake, or fails before it claims it, is told to another one.
 * 3. What is free on record and was told to nobody is found by `tellLeft`, however its wake-up was lost.
 */
import { LEAD, type TeamTask } from '../../schema/team.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { Agent } from '../agent/agent.ts';
import type { CutShort } from './cut-short.ts';

/** Why a claim was released, behind the name of a member. */
export const WAS_STOPPED = ' was stopped';

type FreeTask = Pick<TeamTask, 'number' | 'owner'>;

interface NewsHost {
  readonly team: StoredTeam;
  /** A member at work that still reads; null for any other. */
  reader(name: string): Agent | null;
  wake(name: string): Promise<void>;
  /** Those whose last run was cut short do not begin by themselves what nobody has given to them. */
  readonly cutShort: Pick<CutShort, 'has'>;
}

export class TaskNews {
  readonly #host: NewsHost;
  /** Tasks that members hear of when they wake. */
  readonly #notices = new Map<string, number[]>();
  /** Of the tasks that are free, those that a member has heard of, and which; null where an earlier process has told it. */
  readonly #told: Map<number, string | null>;
  /** Claims that were named to their owners, and to a person: each once. */
  readonly #reminded = new Set<string>();
  readonly #left = new Set<string>();

  constructor(host: NewsHost) {
    this.#host = host;
    // An earlier process has told what was free when it ended, but not what was freed while it stopped everybody.
    const told = host.team.tasks.allFree().filter(({ note }) => note?.endsWith(WAS_STOPPED) !== true);
    this.#told = new Map(told.map(({ number }) => [number, null]));
  }

  /** `but`: who knows already, or has just failed at it. */
  tellFree(tasks: readonly FreeTask[], but: string | null = null): void {
    if (tasks.length === 0) return;
    const idle = this.#idle(but);
    const assigned = new Set(tasks.map(({ owner }) => owner));
    const ready = idle.filter(
      (name) => !assigned.has(name) && !this.#notices.has(name) && !this.#host.cutShort.has(name),
    );
    for (const { number, owner } of tasks) {
      const name = owner === null ? ready.shift() : idle.find((each) => each === owner);
      if (name === undefined) this.#told.delete(number);
      else this.#tell(number, name);
    }
  }

  #idle(but: string | null): string[] {
    const members = this.#host.team.roster.members();
    return members.flatMap(({ name, state }) =>
      state === 'idle' && name !== LEAD && name !== but ? [name] : [],
    );
  }

  #tell(task: number, name: string): void {
    this.#told.set(task, name);
    const reader = this.#host.reader(name);
    if (reader !== null) {
      reader.receive('notification', null, freeNow(task));
      return;
    }
    this.#notices.set(name, [...(this.#notices.get(name) ?? []), task]);
    void this.#host.wake(name);
  }

  /** It has gone idle: one task that became free while everybody was at work. */
  tellOfFree(name: string): void {
    const { roster, tasks } = this.#host.team;
    if (roster.find(name)?.state !== 'idle') return;
    const task = tasks.free(name).find((each) => !this.#told.has(each));
    if (task !== undefined) this.#tell(task, name);
  }

  /** What is free, and no member has heard of. */
  tellLeft(): void {
    const free = this.#host.team.tasks.allFree();
    const numbers = new Set(free.map(({ number }) => number));
    // One that is free again later is told again.
    for (const number of this.#told.keys()) if (!numbers.has(number)) this.#told.delete(number);
    const { cutShort } = this.#host;
    // Its owner has met something that it would meet again.
    const left = free.filter(({ owner }) => owner === null || !cutShort.has(owner));
    this.tellFree(left.filter(({ number }) => !this.#told.has(number)));
  }

  /** A killed process may not have told of what became free: an idle member for each task is told. */
  tellAllFree(): void {
    this.#told.clear();
    this.tellLeft();
  }

  /** It cannot wake, or ended before its time: others hear what it has heard and not claimed. */
  passOn(name: string): void {
    this.#notices.delete(name);
    if (![...this.#told.values()].includes(name)) return;
    const free = this.#host.team.tasks.allFree();
    this.tellFree(
      free.filter(({ number }) => this.#told.get(number) === name),
      name,
    );
  }

  /** Members that have yet to hear of a task. */
  get waiting(): string[] {
    return [...this.#notices.keys()];
  }

  tell(agent: Agent, name: string): void {
    for (const task of this.#notices.get(name) ?? []) agent.receive('notification', null, freeNow(task));
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

function freeNow(task: number): string {
  return `Task ${task} is free now. Claim it if nobody has, or end your turn.`;
}

export function stillYours(task: number): string {
  return `Task ${task} is still in progress, and yours: complete it, mark it failed with a note, or give it back (status pending).`;
}

function isNew(told: Set<string>, { number, owner }: FreeTask): boolean {
  const claim = `${number} ${owner}`;
  const isFirst = !told.has(claim);
  told.add(claim);
  return isFirst;
}
