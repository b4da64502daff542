/**
 * A team as the execution of a run (OP-8): tasks that are ready go onto the team's list, idle members claim them, and what a member
 * has done is taken when its turn has ended. It stands between the agents of a session and their team, which knows nothing of runs.
 *
 * Invariants
 * 1. A member does one task of the run in a turn, and begins it with the commit that the task begins with.
 * 2. A member is not woken before its work is taken: its worktree is as it left it until then.
 */
import type {
  AgentFamily,
  AgentHandle,
  AgentResult,
  FamilyTeam,
  MemberRun,
} from '../../../../engine/shapes.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { describeError } from '../../../../schema/errors.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import type { ShownMember, TeamTask } from '../../../../schema/team.ts';
import type { TaskDesk, TaskUpdate } from '../../../../tools/agent-desk.ts';
import { failure, type ToolOutcome } from '../../../../tools/tool.ts';
import type { TeamView } from '../../../session/session-type.ts';
import { taskLine } from '../patterns/attempt-pattern.ts';
import { type OpenOffer, orLate, STOPPED_TEAM, WakingMembers } from './waking-members.ts';

export interface BoardPlace {
  family: AgentFamily;
  lead: AgentId;
  view: TeamView;
  /** An agent at work, also while its worktree is being given back. */
  handleOf(agent: AgentId): AgentHandle | undefined;
  /** Brings the worktree of a member to the commit that its task begins with. */
  bring(agent: AgentId, order: AttemptOrder): Promise<void>;
  /** The session ends, which may be before the run does: the record of the team is about to be closed. */
  isClosing(): boolean;
  /** Lets members work again that were stopped. */
  reopen(): void;
}

/** A member from when it begins until it rests. */
interface Turn {
  readonly agent: AgentId;
  readonly name: string;
  /** Its task on the list; null before it has claimed one. */
  task: number | null;
  /** Lets it rest; null while it works. */
  release: (() => void) | null;
  readonly checkout: { task: string };
}

/** Every member was woken for it, and none has claimed it. */
export interface RefusedOffer {
  /** How the last of them ended that was awake meanwhile; null if none was. */
  readonly refused: Pick<AgentResult, 'status' | 'cause' | 'message'> | null;
}

interface Offer extends OpenOffer {
  readonly order: AttemptOrder;
  readonly claimed: PromiseWithResolvers<Turn | RefusedOffer>;
}

const LOOK_MS = 5_000;
const LONGEST_SUBJECT = 300;

export class TeamBoard implements Disposable {
  readonly #place: BoardPlace;
  readonly #inner: FamilyTeam;
  readonly #turns: Map<string, Turn> = new Map();
  /** By the number on the list. A member may claim before the run has come so far again. */
  readonly #offers: Map<number, PromiseWithResolvers<Offer>> = new Map();
  readonly #withdrawn: Set<number> = new Set();
  /** Those that nobody has claimed yet. */
  readonly #open: Map<number, Offer> = new Map();
  readonly #members: WakingMembers;
  /** How the last turn ended in which a member claimed nothing. */
  #lastIdle: RefusedOffer['refused'] = null;
  /** A wake-up that was lost heals. */
  readonly #look: NodeJS.Timeout = setInterval(() => this.#offer(), LOOK_MS).unref();
  #begun: PromiseWithResolvers<void> = Promise.withResolvers();
  #putting: Promise<unknown> = Promise.resolve();

  constructor(place: BoardPlace, inner: FamilyTeam) {
    this.#place = place;
    this.#inner = inner;
    this.#members = new WakingMembers(place.view, {
      has: (name) => this.#turns.has(name),
      free: () => [...this.#turns.values()].filter(({ task }) => task === null).length,
    });
    place.family.team = {
      join: (member) => inner.join(member),
      leave: (name) => inner.leave(name),
      has: (agent) => inner.has(agent),
      begin: (agent) => this.#begin(agent),
      left: (agent) => inner.left(agent),
      send: (...message) => inner.send(...message),
      tasksFor: (agent, ...call) => this.#desk(agent, inner.tasksFor(agent, ...call)),
      plansFor: (...call) => inner.plansFor(...call),
      news: inner.news,
    };
  }

  async addMembers(count: number): Promise<void> {
    const { view, reopen } = this.#place;
    reopen();
    // One whose process was killed before it began is not on the roster any more; others are.
    const names = Array.from({ length: count }, (_, index) => `member-${index + 1}`);
    for (const name of names) if (this.member(name) === undefined) await view.add({ name });
  }

  /** The member that does it, at work; null if it was called off before. */
  async claimant(
    order: AttemptOrder,
    prompt: string,
    signal: AbortSignal,
  ): Promise<AgentHandle | RefusedOffer | null> {
    const { task: listed, isNews } = await this.#put(order, prompt);
    const claimed = Promise.withResolvers<Turn | RefusedOffer>();
    const offer: Offer = {
      ...{ order, claimed, told: new Set() },
      refused: () => claimed.resolve({ refused: this.#lastIdle }),
      abandoned: () => claimed.resolve({ refused: STOPPED_TEAM }),
    };
    this.#lastIdle = null;
    this.#withdrawn.delete(listed.number);
    this.#open.set(listed.number, offer);
    this.#offerOf(listed.number).resolve(offer);
    if (!isNews) this.#offer();
    const turn = this.#turnWith(listed.number);
    if (turn !== undefined) offer.claimed.resolve(turn);
    const off = Promise.withResolvers<null>();
    const stop = (): void => off.resolve(null);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const found = await Promise.race([offer.claimed.promise, off.promise]);
    signal.removeEventListener('abort', stop);
    this.#open.delete(listed.number);
    if (found !== null && 'agent' in found) {
      found.checkout.task = taskLine(order.task);
      return this.#place.handleOf(found.agent) ?? null;
    }
    this.#withdrawn.add(listed.number);
    return found;
  }

  listed({ attempt: { name } }: AttemptOrder): TeamTask | undefined {
    return this.tasks().findLast(({ subject }) => subject.startsWith(`${name} `));
  }

  tasks(): readonly TeamTask[] {
    return this.#place.view.tasks();
  }

  member(name: string | null): ShownMember | undefined {
    return this.#members.all().find((member) => member.name === name);
  }

  /** Whether a member is still in the turn in which it did that task. */
  isInTurn(number: number): boolean {
    return this.#turnWith(number)?.release === null;
  }

  /** Entries of earlier tries stay on the list. In a resumed run nothing waits for a member that claims one. */
  withdrawBut(tries: ReadonlySet<string>): void {
    for (const { number, subject } of this.tasks())
      if (!tries.has(subject.split(' ', 1)[0] ?? '')) this.#withdrawn.add(number);
  }

  /** It has failed: the list says so, and nobody claims it any more. */
  async giveUp(order: AttemptOrder, note: string): Promise<void> {
    const listed = this.listed(order);
    if (listed === undefined) return;
    this.#withdrawn.add(listed.number);
    if (listed.status !== 'in_progress') return;
    await this.#asLead(order, 'give-up').update({ task: listed.number, status: 'failed', note });
  }

  /** Its work is taken, or will not be: its member may rest, and be woken for another task. */
  over(order: AttemptOrder): void {
    const listed = this.listed(order);
    const turn = listed && this.#turnWith(listed.number);
    turn?.release?.();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#look);
    for (const turn of this.#turns.values()) turn.release?.();
    this.#place.family.team = this.#inner;
  }

  #turnWith(number: number): Turn | undefined {
    return [...this.#turns.values()].find(({ task }) => task === number);
  }

  #offerOf(number: number): PromiseWithResolvers<Offer> {
    const known = this.#offers.get(number) ?? Promise.withResolvers<Offer>();
    this.#offers.set(number, known);
    return known;
  }

  /** Puts it on the list, or finds it there: an earlier process may have put it. */
  #put(order: AttemptOrder, description: string): Promise<{ task: TeamTask; isNews: boolean }> {
    const putting = this.#putting.then(async () => {
      const found = this.listed(order);
      if (found !== undefined) {
        await this.#tellAgain(found);
        return { task: found, isNews: false };
      }
      const wakes = this.#members.all().some(({ state }) => state === 'idle');
      const { promise: begun } = this.#begun;
      const subject = `${order.attempt.name} ${order.task.title}`.slice(0, LONGEST_SUBJECT).toWellFormed();
      const made = await this.#asLead(order, 'put').create({ subject, description });
      const task = this.listed(order);
      if (task === undefined)
        throw new Error(`the team's list does not take a task: ${String(made.content)}`);
      return { task, isNews: !wakes || (await orLate(begun)) };
    });
    this.#putting = putting.catch(() => {});
    return putting;
  }

  /** Of an earlier process: its work may be half done, and its owner asleep. */
  async #tellAgain({ number, status, owner }: TeamTask): Promise<void> {
    if (status !== 'in_progress' || owner === null || this.#turnWith(number) !== undefined) return;
    await this.#members.write(owner, `You were interrupted. Resume task ${number}, and complete it.`);
  }

  #offer(): void {
    if (!this.#place.isClosing()) this.#members.offer(this.#open);
  }

  #asLead({ attempt }: AttemptOrder, what: string): TaskDesk {
    const call = `operate-${what}-${attempt.name}`;
    return this.#inner.tasksFor(this.#place.lead, call, new AbortController().signal);
  }

  #begin(agent: Parameters<FamilyTeam['begin']>[0]): MemberRun | null {
    const run = this.#inner.begin(agent);
    const [{ name, id }, checkout] = [agent.spec, agent.checkout];
    if (run === null || name === null) return run;
    const held = this.tasks().find(({ owner, status }) => owner === name && status === 'in_progress');
    const turn: Turn = { agent: id, name, task: held?.number ?? null, release: null, checkout };
    this.#turns.set(name, turn);
    this.#members.begun(name);
    const begun = this.#begun;
    this.#begun = Promise.withResolvers();
    begun.resolve();
    if (held !== undefined)
      void this.#offerOf(held.number).promise.then(({ claimed }) => claimed.resolve(turn));
    return {
      ended: (result) => {
        turn.release = () => {
          turn.release = null;
          this.#turns.delete(name);
          run.ended(result);
          // After the team has woken whom it wakes by itself.
          setImmediate(() => this.#offer());
        };
        if (turn.task === null) this.#lastIdle = result;
        if (turn.task === null || this.#withdrawn.has(turn.task)) turn.release();
      },
    };
  }

  #desk(agent: AgentId, desk: TaskDesk): TaskDesk {
    if (agent === this.#place.lead) return desk;
    return {
      get: (task) => desk.get(task),
      list: () => desk.list(),
      create: async () =>
        failure('This list is the list of a run: say in your report what else is to be done.'),
      update: (change) => this.#update(agent, desk, change),
    };
  }

  async #update(agent: AgentId, desk: TaskDesk, change: TaskUpdate): Promise<ToolOutcome> {
    const turn = [...this.#turns.values()].find((one) => one.agent === agent);
    if (change.status === 'pending')
      return failure('Nobody else can use what you have begun: mark it failed, with a note that says why.');
    if (turn === undefined || change.status !== 'in_progress') return desk.update(change);
    if (turn.task !== null && turn.task !== change.task)
      return failure(`Task ${turn.task} is enough for this turn: end it. You are woken for the next one.`);
    if (this.#withdrawn.has(change.task)) return failure(`Task ${change.task} is withdrawn: end your turn.`);
    const outcome = await desk.update(change);
    if (outcome.isError === true) return outcome;
    turn.task = change.task;
    const { order, claimed } = await this.#offerOf(change.task).promise;
    try {
      await this.#place.bring(agent, order);
    } catch (error) {
      const why = `its worktree cannot be brought to where the task begins: ${describeError(error)}`;
      // Not by the call that has claimed it: a call does one thing.
      await this.giveUp(order, why);
      claimed.resolve(turn);
      return failure(`Task ${change.task} has failed: ${why}. End your turn.`);
    }
    claimed.resolve(turn);
    return outcome;
  }
}
