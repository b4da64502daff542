/**
 * What an agent has in the process that runs it, and nowhere else. None of it is state: no event carries it, and a fork,
 * a resumed agent and one that moves to another process begin without it. Each field says why nothing is lost by that.
 */
import type { CacheTtl } from '../../model/cache/cache-map.ts';
import { type Clock, elapsedOf } from '../../schema/clock.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { type CarriedSpending, Spending } from '../budget/budget.ts';
import type { AgentHandle } from '../children/child-handle.ts';
import type { InheritedPrefix } from '../exchange/prefix-guard.ts';
import type { EventSink } from './agent-event.ts';
import type { HeldCapacity } from './capacity.ts';
import type { AgentSpec } from './runtime.ts';

/** The agents that one agent has started and that have not ended. */
export class Children {
  /** Null until there is one: most agents never have any. */
  #running: Map<AgentId, AgentHandle> | null = null;
  #expected = 0;

  get running(): readonly AgentHandle[] {
    return [...(this.#running?.values() ?? [])];
  }

  /** One more is about to run in the background, until what this returns is called. */
  expect(): () => void {
    this.#expected += 1;
    return () => {
      this.#expected -= 1;
    };
  }

  get anyInBackground(): boolean {
    if (this.#expected > 0) return true;
    for (const child of this.#running?.values() ?? []) if (child.inBackground) return true;
    return false;
  }

  add(child: AgentHandle): void {
    this.#running ??= new Map();
    this.#running.set(child.id, child);
  }

  delete(id: AgentId): void {
    this.#running?.delete(id);
  }

  find(nameOrId: string): AgentHandle | undefined {
    const direct = this.#running?.get(nameOrId);
    if (direct !== undefined) return direct;
    for (const child of this.#running?.values() ?? []) if (child.name === nameOrId) return child;
    return undefined;
  }

  cancelAll(): void {
    for (const child of this.running) child.cancel();
  }

  stop(reason: string): void {
    for (const child of this.running) child.stop(reason);
  }

  /** Ends those that a call waits for; resolves when they have ended. */
  async stopAwaited(reason: string): Promise<void> {
    const awaited = this.running.filter(({ inBackground }) => !inBackground);
    for (const child of awaited) child.stop(reason);
    await Promise.all(awaited.map(({ result }) => result));
  }

  /** Resolves when all have ended. */
  async stopAll(reason: string): Promise<void> {
    const children = this.running;
    this.stop(reason);
    await Promise.all(children.map(({ result }) => result));
  }
}

/** Of an answer that is being written, the end: who opens it late reads no more than that. */
const MOST_COMING = 200_000;

/** The text of an answer as far as it has come; no record has it before it is complete. */
export class ComingAnswer {
  #text = '';

  get text(): string {
    return this.#text.slice(-MOST_COMING);
  }

  add(text: string): void {
    this.#text += text;
    // By half, so that this is seldom.
    if (this.#text.length > MOST_COMING * 2) this.#text = this.#text.slice(-MOST_COMING);
  }

  clear(): void {
    this.#text = '';
  }
}

/** What keeps a coordinator from telling results that it does not have (COORD-2). */
interface CoordinatorDuty {
  /** What is wrong with an answer that would end the turn; null for nothing. */
  objection(text: string): Promise<string | null>;
  /** What people are to read below an answer that ends the turn although it tells such results; null for nothing. */
  mark(text: string): Promise<string | null>;
  /** Whose results are still missing when one arrives; null for nobody's. */
  openWork(): string | null;
}

/** A run that begins: its bill, and the turns that it has had in an earlier process. */
interface BegunRun {
  readonly spending: Spending;
  readonly turns: number;
}

/** How long something was waited for, by any number of waiters at once: time in which several wait counts once. */
export class WaitedTime {
  readonly #clock: Clock;
  #waiters = 0;
  #since = 0;
  #totalMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get totalMs(): number {
    return this.#totalMs + (this.#waiters === 0 ? 0 : elapsedOf(this.#clock) - this.#since);
  }

  async during<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#waiters === 0) this.#since = elapsedOf(this.#clock);
    this.#waiters += 1;
    try {
      return await work();
    } finally {
      this.#waiters -= 1;
      if (this.#waiters === 0) this.#totalMs += elapsedOf(this.#clock) - this.#since;
    }
  }
}

export class AgentHere {
  readonly #spec: AgentSpec;
  readonly #clock: Clock;
  /**
   * The bill of the run that is under way, or of the last one. It is linked to those of living ancestors and children
   * (RES-2); the state says what the agent has spent (`spent`).
   */
  spending: Spending | null = null;
  /** The bill of the next run, when it was opened before that begins. */
  #nextBill: Spending | null = null;
  /** What the resumed work has taken in an earlier process, from the state; null once a run has begun with it. */
  carried: CarriedSpending | null = null;
  /**
   * Of a fork: what it must still have in common with its parent when its first request goes (FORK-8). One that resumes is
   * built from the record, and the record is compared as a whole.
   */
  inherited: InheritedPrefix | null = null;
  /** Whether a request of its own was answered here: only the first waits for siblings, which another process has not. */
  launched = false;
  /** Its waits for children: those that outlived a mark of five minutes, and how long the marks live that it sends. */
  readonly waiting: { ttl: CacheTtl; readonly longWaitsMs: number[] } = { ttl: '5m', longWaitsMs: [] };
  /** Its share of the agents that may run at once; null if they are not counted. Every process counts its own. */
  capacity: HeldCapacity | null = null;
  /** Gets what is recorded here, where the agent's loop runs in another process. */
  onRecord: ((event: JournalEvent) => void) | null = null;
  /** Of a coordinator: what it is held to when it answers. A resumed one gets it again from its host. */
  duty: CoordinatorDuty | null = null;
  /** Of the lead of a team, or a coordinator: what outlasts a compaction. */
  teamNow: (() => string) | null = null;
  /** Of the main agent: what is remembered now, for a conversation that is compacted. Others keep what they were told. */
  memoryNow: (() => Promise<string | null>) | null = null;
  /** Called when a request with all that the agent has been told is about to go. */
  onRequest: (() => void) | null = null;
  /** Gets what the agent tells, once it is known to a family: the sink of the session. */
  sink: EventSink | null = null;
  /** How many want to be told what it writes as it writes it. */
  readers = 0;
  /** The answer that it is writing. */
  readonly answer: ComingAnswer = new ComingAnswer();
  /** How many questions about permission wait for a person here: as long as there are any the agent is `blocked`. */
  openQuestions = 0;
  /** How long its calls have waited to be permitted. */
  readonly permitWaits: WaitedTime;
  /** Why a hook ends its run. It is asked again after a restart, as the call is. */
  halt: string | null = null;
  /** The places of heavy commands that it has in the background, each within the one before. */
  slots: readonly string[] = [];

  constructor(spec: AgentSpec, clock: Clock) {
    this.#spec = spec;
    this.#clock = clock;
    this.permitWaits = new WaitedTime(clock);
  }

  /** Opens the bill of the next run: agents that resume before their parent does spend on it from the start (RES-2). */
  openBill(): Spending {
    const { budget, type, spending: parent } = this.#spec;
    this.#nextBill ??= new Spending(budget, this.#clock.now(), { label: `${type} agent`, parent });
    this.spending = this.#nextBill;
    return this.#nextBill;
  }

  /** A resumed agent keeps its turns and its spending. */
  beginRun(): BegunRun {
    const spending = this.openBill();
    const { carried } = this;
    this.#nextBill = null;
    this.carried = null;
    if (carried !== null) spending.carry(carried);
    return { spending, turns: carried?.turns ?? 0 };
  }
}
