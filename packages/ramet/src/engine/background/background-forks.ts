/**
 * The one mechanism of background work (BG-1): which forks there are for a session, when one begins and when it ends.
 *
 * Invariants
 * 1. Nobody waits for it: to begin and to end work returns at once, and what goes wrong ends that work alone.
 * 2. Of each source one fork runs at a time.
 * 3. A fork that is ended has no effect: its answer is carried out as a whole after its end, or not at all.
 */
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { BackgroundSource } from '../../schema/status.ts';
import { addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';
import { BACKGROUND_LIMITS } from '../../settings/settings.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { STOPPED } from '../agent/notices.ts';
import type { AgentFamily } from '../children/family.ts';
import { giveBack, runFork, startFork } from './background-fork.ts';
import type { BackgroundOutcome, BackgroundWork, DueWork, FinishedTurn } from './background-work.ts';
import { whyNotNow } from './may-begin.ts';

/** How long the end of a session waits for an answer that is being carried out. */
const CLOSE_MS = 5_000;

/** Of a session that was resumed, in earlier processes. */
export interface EarlierUsage {
  /** Of work in the background that shares `costShare`. */
  readonly shared: Usage;
  /** Of work with budgets of its own. */
  readonly apart: Usage;
  /** Of all, where the budget of the session does not count it. */
  readonly total: Usage;
}

export interface BackgroundOptions {
  readonly family: AgentFamily;
  readonly works: readonly BackgroundWork[];
  /** What all of it may cost, as a share of the rest. */
  readonly costShare?: number | undefined;
  readonly earlier?: EarlierUsage | undefined;
  /** A fork has begun, and can be stopped by its id. */
  onBegin?(): void;
  onEnd?(outcome: BackgroundOutcome): void;
}

interface RunningWork {
  readonly work: BackgroundWork;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  /** Null before it has begun. */
  fork: AgentId | null;
}

/** Work that is due and may begin. */
interface BegunWork {
  readonly work: BackgroundWork;
  readonly due: DueWork;
  readonly agent: Agent;
  readonly abort: AbortController;
}

export class BackgroundForks {
  readonly #options: BackgroundOptions;
  readonly #running = new Map<string, RunningWork>();
  readonly #told = new Set<string>();
  #usage: Usage;
  /** Of work with budgets of its own. */
  #apart: Usage;
  #isClosed = false;

  constructor(options: BackgroundOptions) {
    this.#options = options;
    const { shared = NO_USAGE, apart = NO_USAGE } = options.earlier ?? {};
    this.#usage = shared;
    this.#apart = apart;
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Begins what is due. The caller does not wait. */
  turnEnded(turn: FinishedTurn): void {
    for (const work of this.#options.works) this.begin(work, turn);
  }

  /** Unless one of its source runs. */
  begin(work: BackgroundWork, turn: FinishedTurn): void {
    if (this.#isClosed || this.#running.has(work.source)) return;
    const abort = new AbortController();
    const ended = this.#carryOut(work, turn, abort).finally(() => {
      if (this.#running.get(work.source)?.abort === abort) this.#running.delete(work.source);
    });
    this.#running.set(work.source, { work, abort, ended, fork: null });
  }

  /** A person goes first: what is of no use any more ends, and all of it where the prompt would wait. */
  promptBegins(agent: Agent): void {
    const isTight = !hosted(agent).runtime.rate.isFree(agent.conversation.head.model);
    for (const { work, abort } of this.#running.values())
      if (isTight || work.endsWithPrompt) abort.abort(STOPPED);
  }

  /** Ends the one of a source; the caller does not wait. */
  end(source: BackgroundSource): void {
    this.#running.get(source)?.abort.abort(STOPPED);
  }

  /** Ends the fork with that id, as `ramet stop` asks. */
  stop(id: AgentId): void {
    for (const { fork, abort } of this.#running.values()) if (fork === id) abort.abort(STOPPED);
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0)
      await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  /** Ends everything; resolves after some seconds at most. */
  async close(agent: Agent): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#running.values()];
    if (running.length === 0) return;
    for (const { abort } of running) abort.abort(STOPPED);
    const over = new AbortController();
    const late = agent.runtime.clock.sleep(CLOSE_MS, over.signal, { keepsAlive: false });
    await Promise.race([Promise.all(running.map(({ ended }) => ended)), late]);
    over.abort();
  }

  async #carryOut(work: BackgroundWork, turn: FinishedTurn, abort: AbortController): Promise<void> {
    const { agent } = turn;
    const { signal } = abort;
    try {
      // The result of the turn is told first.
      await setImmediate();
      const due = signal.aborted ? null : await work.due(turn);
      if (due === null || signal.aborted || this.#whyNot(work, agent) !== null) return;
      await this.#runOne({ work, due, agent, abort });
    } catch (error) {
      const how = this.#running.get(work.source)?.fork ? 'failed' : 'did not begin';
      if (!signal.aborted)
        this.#tell(agent, `work in the background (${work.source}) ${how}: ${describeError(error)}`);
    }
  }

  #whyNot({ isForWorking = false, hasOwnBudget }: BackgroundWork, agent: Agent): string | null {
    const { family, costShare = BACKGROUND_LIMITS.costShare } = this.#options;
    const share = hasOwnBudget === true ? null : costShare;
    const earlier = this.#options.earlier?.total;
    return whyNotNow(family, agent, { usage: this.#usage, apart: this.#apart, earlier, share, isForWorking });
  }

  async #runOne(begun: BegunWork): Promise<void> {
    const { work, due, agent, abort } = begun;
    const { family } = this.#options;
    const id = family.newId();
    const workspace = (await due.workspace?.(id, abort.signal)) ?? null;
    if (due.workspace !== undefined && workspace === null) return;
    if (abort.signal.aborted) {
      await workspace?.release();
      return;
    }
    const fork = startFork(family, agent, work, { id, task: due.task, workspace });
    const running = this.#running.get(work.source);
    if (running !== undefined) running.fork = id;
    this.#options.onBegin?.();
    try {
      due.begins?.(fork, () => abort.abort(STOPPED));
      await this.#carryThrough(begun, fork);
    } finally {
      if (workspace !== null) await giveBack(fork, workspace);
    }
  }

  async #carryThrough({ work, due, agent, abort: { signal } }: BegunWork, fork: Agent): Promise<void> {
    const result = await runFork(this.#options.family, fork, signal);
    if (work.hasOwnBudget === true) this.#apart = addUsage(this.#apart, result.usage);
    else this.#usage = addUsage(this.#usage, result.usage);
    const problem = result.status === 'done' && !signal.aborted ? await this.#take(due, fork, result) : null;
    if (problem !== null)
      this.#tell(agent, `what ${fork.spec.id} (${work.source}) found is not kept: ${problem}`);
    this.#options.onEnd?.({ source: work.source, result, problem });
  }

  async #take(due: DueWork, fork: Agent, { text }: AgentResult): Promise<string | null> {
    try {
      await due.take({ fork, answer: text });
      return null;
    } catch (error) {
      return describeError(error);
    }
  }

  /** Once for each reason: a full disk stays full for many turns. */
  #tell(agent: Agent, message: string): void {
    // Without ids and the random ends of names of files.
    const reason = message.replace(/\b\w+\.\d+\b|\.\w+/g, '');
    if (this.#isClosed || this.#told.has(reason)) return;
    this.#told.add(reason);
    agent.warn('background_failed', message);
  }
}
