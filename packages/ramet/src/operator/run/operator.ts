/**
 * Runs the tasks of a file (OP-2): starts what may start, has finished work merged and checked, lands what the policy allows,
 * and tries again or gives up by rule. No model decides anything here.
 *
 * Invariants
 * 1. A change of a task is on record before it is acted on: see `recorded`.
 * 2. Everything that is under way follows from the state alone, so a process that is killed at any point is continued
 *    by another one that folds the journal and calls `run`.
 */
import type { OperatorAction, OperatorEvent, OperatorRun } from '../../schema/operator-events.ts';
import { onAbort } from '../../system/on-abort.ts';
import { afterEnd, CLOSED_BREAKER } from '../schedule/breaker.ts';
import type { ReadyQueue } from '../schedule/ready-queue.ts';
import { allowedActions, carryOut } from './actions.ts';
import { type AgentWait, AgentWaits, type WaitingAgent } from './agent-waits.ts';
import { applyOperatorEvent } from './apply-operator-event.ts';
import { type EndParts, takeEnd } from './attempt-ends.ts';
import { Attempts, attemptName } from './attempts.ts';
import { checkBase, isBaseUnknown, nextTask } from './base-check.ts';
import { attemptsOf, judge, overBudget, queueOf, spentAll } from './decisions.ts';
import { REVIEW_WAITS, recordEnd } from './end-run.ts';
import { Integrator } from './integrator.ts';
import { resumeCommand } from './operate-command.ts';
import { isTaskEnded, type OperatorState, taskOf, tasksOf } from './operator-state.ts';
import type { OperatorPorts } from './ports.ts';
import { RetryTimers, restoreTasks } from './restore-tasks.ts';
import { Reviews } from './reviews.ts';
import { TaskActors } from './task-actors.ts';
import { type FailureNews, recordFailure } from './task-failure.ts';

export class Operator {
  readonly #ports: OperatorPorts;
  readonly #run: OperatorRun;
  readonly #actors: TaskActors;
  readonly #attempts: Attempts;
  readonly #reviews: Reviews;
  readonly #integrator: Integrator;
  #state: OperatorState;
  #queue: ReadyQueue;
  readonly #timers: RetryTimers;
  readonly #waits: AgentWaits = new AgentWaits();
  #breaker = CLOSED_BREAKER;
  /** Aborts when the run is over. */
  readonly #over: AbortController = new AbortController();
  #failure: { error: unknown } | null = null;
  #wake = Promise.withResolvers<void>();
  readonly isStarting: () => boolean = () => this.#attempts.isStarting;

  /** Continues the run of a state, which may have just begun. */
  constructor(state: OperatorState, ports: OperatorPorts) {
    if (state.run === null) throw new Error('there is no run to continue');
    const { run } = state;
    [this.#ports, this.#run, this.#state] = [ports, run, state];
    this.#actors = new TaskActors(run.retries, (event) => this.#record(event));
    for (const task of tasksOf(state)) this.#actors.admit(task);
    this.#queue = queueOf(state);
    this.#timers = new RetryTimers(ports.clock, this.#over.signal, (id) => this.#due(id));
    const parts = { ports, run, actors: this.#actors, state: () => this.#state };
    const [onChange, onFailure] = [() => this.#wake.resolve(), (error: unknown) => this.#fail(error)];
    const ending: EndParts = {
      ...{ actors: this.#actors, state: () => this.#state },
      mayBeUnchanged: (id) => this.#integrator.mayBeUnchanged(id),
      offer: (id, number) => this.#reviews.offer(id, number, false),
      failed: (id, news) => this.#failed(id, news),
      drain: (cause, message) => this.#drain(cause, message),
    };
    this.#attempts = new Attempts({
      ...{ ...parts, onChange, onFailure },
      onEnd: (id, end, attempt) => takeEnd(id, end, attempt, ending),
    });
    this.#reviews = new Reviews({
      ...{ ...parts, onChange, onFailure },
      onApproved: (id, number) => this.#integrator.offer(id, number),
      onRejected: (id, news) => this.#failed(id, news),
      onBlocked: (id) => this.#queue.settle(id, 'failed'),
      onOutage: (cause, message) => this.#drain(cause, message),
    });
    this.#integrator = new Integrator({
      ...{ ...parts, onChange },
      record: (event) => this.#record(event),
      onMerged: (id) => this.#merged(id),
      onRejected: (id, news) => this.#failed(id, news),
      onLeftOut: () => this.#requeue(),
    });
  }

  get state(): OperatorState {
    return this.#state;
  }

  /** Until nothing is under way and nothing can start. `signal`: nothing more starts, and what runs is waited for. */
  async run(signal: AbortSignal): Promise<OperatorState> {
    const interrupt = (): void => this.#drain('interrupted', `interrupted (${String(signal.reason)})`);
    const unlink = onAbort(signal, interrupt);
    try {
      restoreTasks(this.#state, {
        ...{ actors: this.#actors, timers: this.#timers },
        ...{ reviews: this.#reviews, attempts: this.#attempts, resolved: this.#ports.resolved },
      });
      await this.#integrator.resume();
      this.#requeue();
      const base = this.#checkBase().catch((error: unknown) => this.#fail(error));
      for (;;) {
        for (const id of this.#queue.newlyReady()) this.#actors.change(id, { type: 'ready' });
        this.#review();
        this.#launch();
        this.#attempts.announce(this.#queue.waiting);
        void this.#integrator.pump().then(
          (hasWorked) => hasWorked && this.#wake.resolve(),
          (error: unknown) => this.#fail(error),
        );
        if (this.#failure !== null) throw this.#failure.error;
        if (!this.#isBusy()) {
          if (this.#state.status === 'running' && this.#integrator.giveUp()) continue;
          if (await this.#integrator.landRest()) continue;
          break;
        }
        await this.#wake.promise;
        this.#wake = Promise.withResolvers<void>();
      }
      this.#over.abort();
      await base;
      await this.#finish();
      return this.#state;
    } finally {
      this.#over.abort();
      unlink();
    }
  }

  /** What may be asked for now, about one task or about the run. */
  allowed(task?: string): OperatorAction['kind'][] {
    return allowedActions(this.#state, this.#actors, task);
  }

  /** Carries out what a person, a model or a program asks for. Returns why not, and what is possible; null if it did. */
  act(action: OperatorAction, by: 'person' | 'model' | 'program'): string | null {
    const refused = carryOut(action, {
      ...{ by, state: () => this.#state, actors: this.#actors, ports: this.#ports },
      record: (event) => this.#record(event),
      requeue: () => this.#requeue(),
      stop: (id, reason) => this.#stop(reason, id),
      offer: (id, number) => this.#reviews.offer(id, number, false),
      resetBreaker: () => {
        this.#breaker = CLOSED_BREAKER;
      },
    });
    this.#record({ type: 'operator.asked', by, action, refused });
    this.#wake.resolve();
    return refused;
  }

  /** What is known of an agent: that it waits for its provider, or, with null, that it works. */
  agentWaits(agent: WaitingAgent, wait: AgentWait | null): void {
    this.#waits.note(agent, wait, { state: this.#state, actors: this.#actors, now: this.#ports.clock.now() });
  }

  /** Interrupts everything that runs. */
  stopAll(reason: string): void {
    this.#drain('interrupted', reason);
    this.#stop(reason);
  }

  /** Agents and reviewers, of one task or all. */
  #stop(reason: string, id?: string): void {
    this.#attempts.stop(reason, id);
    this.#reviews.stop(reason, id);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake.resolve();
  }

  #record(event: OperatorEvent): void {
    this.#ports.record(event);
    this.#state = applyOperatorEvent(this.#state, { event, time: this.#ports.clock.now() });
  }

  get #working(): number {
    return this.#attempts.working + this.#reviews.working;
  }

  /** Before anything new starts: a review finishes work that is paid for. It waits if all the money is spent. */
  #review(): void {
    if (this.#state.status !== 'running' || !this.#reviews.isWaiting) return;
    const why = spentAll(this.#state);
    if (why === null) this.#reviews.begin(Math.max(1, this.#ports.width(this.#run)) - this.#working);
    else this.#drain('budget', `${why}${REVIEW_WAITS}`);
  }

  #launch(): void {
    const each = attemptsOf(this.#run);
    while (this.#state.status === 'running') {
      const working = this.#working;
      // With a budget, the next one starts when it is known what those before it have cost.
      const isCounted = this.#run.budget.usd !== undefined;
      const places = isCounted ? working : this.#attempts.places + this.#reviews.working;
      if (places > 0 && places + each > this.#ports.width(this.#run)) return;
      const id = nextTask(this.#queue, this.#state);
      if (id === undefined) return;
      const why = overBudget(this.#state, working);
      if (why === null) this.#start(id, each);
      else {
        this.#queue.putBack(id);
        this.#drain('budget', why);
      }
    }
  }

  /** While the first agents work. */
  async #checkBase(): Promise<void> {
    if (!isBaseUnknown(this.#state)) return;
    await this.#ports.recorded();
    const check = await checkBase(this.#run, this.#ports, this.#over.signal);
    if (check !== null) this.#record({ type: 'operator.base_checked', check });
    this.#wake.resolve();
  }

  #start(id: string, attempts: number): void {
    if (this.#actors.statusOf(id) === 'queued') this.#actors.change(id, { type: 'ready' });
    const first = (taskOf(this.#state, id)?.attempts.at(-1)?.number ?? 0) + 1;
    const base = this.#state.integrated ?? this.#run.base;
    const numbers = Array.from({ length: attempts }, (_, index) => first + index);
    for (const number of numbers) {
      const attempt = { number, state: 'running' as const, name: attemptName(id, number), base };
      if (number === first) this.#actors.change(id, { type: 'start', attempts }, { attempt });
      else this.#actors.note(id, { attempt });
    }
    for (const number of numbers) this.#attempts.begin(id, number, false);
  }

  /** Tries again later, or gives up. */
  #failed(id: string, news: FailureNews): void {
    const failures = taskOf(this.#state, id)?.failures ?? 0;
    const now = this.#ports.clock.now();
    const next = recordFailure(this.#actors, id, news, { now, run: this.#run, failures });
    if (next?.status === 'waiting') this.#timers.set(id, next.until);
    if (next?.status !== 'frozen' && next?.status !== 'blocked') return;
    this.#queue.settle(id, 'failed');
    this.#count(true);
    if (this.#run.policy === 'all' && judge(this.#state).state === 'lost')
      this.#drain('policy', `${id} has failed, and nothing lands unless everything does`);
  }

  #merged(id: string): void {
    this.#queue.settle(id, 'done');
    this.#count(false);
    this.#stop('superseded', id);
  }

  #count(failed: boolean): void {
    this.#breaker = afterEnd(this.#breaker, failed);
    if (this.#breaker.tripped === null || this.#state.status !== 'running') return;
    const message = `${this.#breaker.tripped}: nothing more starts; repair the cause, then: ${resumeCommand(this.#run)}`;
    this.#record({ type: 'operator.changed', status: 'tripped', cause: 'breaker', message });
  }

  /** The time of its next try has come. */
  #due(id: string): void {
    if (this.#actors.change(id, { type: 'due' }) !== null) {
      // What it waits for may be done again too.
      if (this.#state.rebased > 0) this.#requeue();
      else this.#queue.putBack(id);
    }
    this.#wake.resolve();
  }

  #requeue(): void {
    this.#queue = queueOf(this.#state);
  }

  #drain(cause: string, message: string | null): void {
    if (this.#state.status !== 'running' && this.#state.status !== 'paused') return;
    this.#record({ type: 'operator.changed', status: 'draining', cause, message });
    this.#wake.resolve();
  }

  #isBusy(): boolean {
    const { status } = this.#state;
    if (this.#integrator.isBusy || this.#working > 0) return true;
    if (status === 'paused') return tasksOf(this.#state).some((task) => !isTaskEnded(task));
    if (this.#timers.size > 0 && status === 'running') return true;
    if (this.#attempts.count === 0) return false;
    // Only agents that wait for a person are left. If nobody is there, they end and keep their questions.
    if (!this.#ports.isAttended || status !== 'running') this.#attempts.stop('unanswered');
    return true;
  }

  async #finish(): Promise<void> {
    await this.#integrator.markAll();
    recordEnd({
      ...{ state: () => this.#state, actors: this.#actors },
      drain: (cause, message) => this.#drain(cause, message),
      record: (event) => this.#record(event),
    });
    await this.#ports.recorded();
  }
}
