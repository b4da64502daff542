/** What changes while one prompt is worked on, and how that can end. */

import type { Clock } from '../../schema/clock.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { Agent } from '../agent/agent.ts';
import { STOPPED } from '../agent/notices.ts';
import { type BudgetState, Spending } from '../budget/budget.ts';

/** Why a signal is aborted whose time is up; children that somebody waits for see the same reason. */
export const OUT_OF_TIME = 'out_of_time';

export interface RunOptions {
  signal: AbortSignal;
  /** Whether text is yielded as it streams. */
  partial?: boolean;
  /** Whether the answer is given only once all agents in the background have been told of; true when absent. */
  waitForChildren?: boolean;
}

export interface RunState {
  readonly spending: Spending;
  turns: number;
  repeats: number;
  maxTokens: number;
  text: string;
  /** The last answer was cut off, so the next one continues its text. */
  cut: boolean;
  toldToFinish: boolean;
  /** The conversation was compacted because it did not fit, and no response has come since. */
  recovered: boolean;
  /** How many answers were not what was asked for. */
  refusedAnswers: number;
  /** After how many turns somebody called the work off; null while nobody has. */
  calledOffAt: number | null;
}

export type Ending = { status: AgentStatus; cause: string | null; message: string | null };

export const DONE: Ending = { status: 'done', cause: null, message: null };

export function newRunState(spending: Spending, maxTokens: number): RunState {
  return {
    spending,
    turns: 0,
    repeats: 0,
    maxTokens,
    text: '',
    cut: false,
    toldToFinish: false,
    recovered: false,
    refusedAnswers: 0,
    calledOffAt: null,
  };
}

/** Of an agent that was told to end, by what it was told. */
export function endingOfAbort({ reason }: AbortSignal): Ending {
  const by = typeof reason === 'string' ? reason : 'abort';
  const status = by === STOPPED ? 'cancelled' : 'interrupted';
  return { status, cause: by, message: `${status} (${by})` };
}

export function budgetSpent({ limit, what }: BudgetState): Ending {
  const status = limit === 'seconds' ? 'timed_out' : 'failed';
  return { status, cause: 'budget', message: `the budget is spent: ${what}` };
}

/** How the run ends once it had its closing turn; null while turns are left. */
export function closedEnding(run: RunState, maxTurns: number): Ending | null {
  if (run.calledOffAt !== null && run.turns > run.calledOffAt) {
    return { status: 'cancelled', cause: 'called_off', message: 'the work was called off' };
  }
  if (run.turns <= maxTurns) return null;
  return {
    status: 'failed',
    cause: 'max_turns',
    message: `the limit of ${maxTurns} turn${maxTurns === 1 ? '' : 's'} is reached`,
  };
}

/**
 * The bill of a run. Agents that go on before their parent does spend on its next one from the start (RES-2).
 *
 * Opens the bill of the next run before it begins.
 */
export function openBill(agent: Agent): Spending {
  const { budget, type, spending: parent } = agent.spec;
  const now = agent.runtime.clock.now();
  agent.nextBill ??= new Spending(budget, now, { label: `${type} agent`, parent });
  agent.spending = agent.nextBill;
  return agent.nextBill;
}

/** The bill of a run that begins. */
export function takeBill(agent: Agent): Spending {
  const bill = openBill(agent);
  agent.nextBill = null;
  return bill;
}

/**
 * Ends a run when its time is up, also in the middle of a request or a tool (RES-2). Looked at between turns alone, the
 * limit would not hold where it is needed most: with a model that never answers, or a command that never ends.
 */
interface Deadline extends Disposable {
  /** Aborts with the signal it was made of, or when the time is up. */
  readonly signal: AbortSignal;
}

export function startDeadline(clock: Clock, seconds: number | undefined, signal: AbortSignal): Deadline {
  if (seconds === undefined) return { signal, [Symbol.dispose]() {} };
  const controller = new AbortController();
  const over = new AbortController();
  const pass = (): void => controller.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass, { once: true });
  void clock.sleep(seconds * 1_000, over.signal, { keepsAlive: false }).then(() => {
    if (!over.signal.aborted) controller.abort(OUT_OF_TIME);
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', pass);
      over.abort();
    },
  };
}
