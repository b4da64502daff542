/**
 * Which members of a team are woken for tasks of a run that nobody has claimed (OP-8). The team wakes one member for a task when it is put
 * on the list or freed. If that member was killed or leaves the task alone, others are woken, each once for each task.
 */
import type { AgentResult } from '../../../../engine/shapes.ts';
import { systemClock } from '../../../../schema/clock.ts';
import { LEAD, type ShownMember } from '../../../../schema/team.ts';
import type { TeamView } from '../../../session/session-type.ts';

/** A task that nobody has claimed yet. */
export interface OpenOffer {
  /** Members that were woken for it here. */
  readonly told: Set<string>;
  /** Every member was woken for it and is idle again. */
  refused(): void;
  /** Every member was stopped. */
  abandoned(): void;
}

/** The members at work. */
interface TurnCount {
  has(name: string): boolean;
  /** How many of them have not claimed a task. */
  free(): number;
}

/** A member that was written to and has not begun counts as awake for so long. */
const LONGEST_WAKE_MS = 3_000;

/** Someone has stopped them: that is no failure of a task. */
export const STOPPED_TEAM: Pick<AgentResult, 'status' | 'cause' | 'message'> = {
  status: 'interrupted',
  cause: 'members_stopped',
  message: 'every member of the team was stopped',
};

export class WakingMembers {
  readonly #view: TeamView;
  readonly #turns: TurnCount;
  /** Members that were written to and have not begun, with how long that may take. */
  readonly #waking: Map<string, number> = new Map();

  constructor(view: TeamView, turns: TurnCount) {
    this.#view = view;
    this.#turns = turns;
  }

  all(): ShownMember[] {
    return this.#view.members().filter(({ name }) => name !== LEAD);
  }

  begun(name: string): void {
    this.#waking.delete(name);
  }

  async write(to: string, text: string): Promise<void> {
    this.#waking.set(to, performance.now() + LONGEST_WAKE_MS);
    await this.#view.send({ to, text }).catch(() => this.#waking.delete(to));
  }

  /** Wakes a member for each task that nobody is awake for. */
  offer(open: ReadonlyMap<number, OpenOffer>): void {
    const pending = new Set(
      this.#view.tasks().flatMap(({ number, status }) => (status === 'pending' ? [number] : [])),
    );
    for (const [name, until] of this.#waking) if (performance.now() > until) this.#waking.delete(name);
    const awake = this.#waking.size + this.#turns.free();
    const left = [...open].filter(([number]) => pending.has(number)).slice(awake);
    for (const [number, offer] of left) this.#offerOne(number, offer);
  }

  #offerOne(number: number, { told, refused, abandoned }: OpenOffer): void {
    const members = this.all().filter(({ state }) => state !== 'stopped' && state !== 'stopping');
    if (members.length === 0) {
      abandoned();
      return;
    }
    const isIdle = ({ name, state }: ShownMember): boolean =>
      (state === 'idle' || state === 'interrupted') && !this.#turns.has(name) && !this.#waking.has(name);
    const next = members.find((member) => isIdle(member) && !told.has(member.name));
    if (next !== undefined) {
      told.add(next.name);
      void this.write(next.name, `Task ${number} is free now. Claim it if nobody has, or end your turn.`);
    } else if (members.every((member) => isIdle(member) && told.has(member.name))) refused();
  }
}

/** One more task is not put on the list before the member has begun that the last one woke: each is to wake another. */
export async function orLate(begun: Promise<void>): Promise<boolean> {
  const early = new AbortController();
  const late = systemClock.sleep(LONGEST_WAKE_MS, early.signal, { keepsAlive: false }).then(() => false);
  const isBegun = await Promise.race([begun.then(() => true), late]);
  early.abort();
  return isBegun;
}
