/** A run of the operator for programs: the one object of `--output-format json`, and the lines of `stream-json`. */
import {
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import { hitRate } from '../../schema/usage.ts';
import { isRunWhole, needsPerson, nextStep, summaryOf } from './run-summary.ts';

export interface RunFacts {
  session: string;
  /** Where `report.md` is; null where none was written. */
  report: string | null;
  now: number;
}

export function runObject(state: OperatorState, { session, report, now }: RunFacts): Record<string, unknown> {
  const { run, status, cause, message, landing, integrated, resumed, startedAt } = state;
  const { done, total, counts, costUsd, atLeastUsd, usage } = summaryOf(state);
  return {
    type: 'result',
    subtype: isRunWhole(state) ? 'success' : 'error_tasks',
    is_error: !isRunWhole(state),
    session_id: session,
    ...{ status, cause, message },
    file: run?.file ?? null,
    target: run?.target ?? null,
    base: run?.base ?? null,
    integrated,
    landing,
    policy: run?.policy ?? null,
    review: run?.review ?? [],
    isolation: run?.isolation ?? null,
    isolation_why: run?.isolationWhy ?? null,
    counts: Object.fromEntries(counts),
    num_tasks: total,
    num_done: done,
    resumed,
    started_at: new Date(startedAt).toISOString(),
    duration_ms: Math.max(0, (status === 'ended' ? state.at : now) - startedAt),
    total_cost_usd: costUsd,
    cost_at_least_usd: atLeastUsd,
    budget_usd: run?.budget.usd ?? null,
    usage,
    cache_hit_rate: hitRate(usage),
    report,
    tasks: tasksOf(state).map(taskObject),
  };
}

function taskObject(task: TaskState): Record<string, unknown> {
  const { status, cause, message, failures, result, check, conflict, question, marked, until } = task;
  const { id, title, file, line, phase, waits, files, gate } = task.task;
  return {
    ...{ id, title, file, line, phase, waits_for: waits, declared_files: files, gate },
    ...{ status, cause, message, failures, retry_at: until === null ? null : new Date(until).toISOString() },
    ...{ commit: result, check, conflict, question, marked },
    needs_person: needsPerson(task),
    next_step: nextStep(task),
    attempts: task.attempts.map(attemptObject),
  };
}

function attemptObject(attempt: TaskAttempt): Record<string, unknown> {
  const { number, state, agent, branch, path, base, commit, files, cause, message, costUsd, usage } = attempt;
  const { startedAt, endedAt, isolation, reviews, check } = attempt;
  return {
    ...{ number, state, agent_id: agent, isolation, branch, path, base, commit, files, cause, message, check },
    reviews: reviews.map((one) => ({
      ...{ type: one.type, commit: one.commit, agent_id: one.agent, approved: one.approved },
      ...{ reasons: one.reasons, total_cost_usd: one.costUsd },
    })),
    ...{ total_cost_usd: costUsd, usage, duration_ms: endedAt === null ? null : endedAt - startedAt },
  };
}

/** One line of `stream-json`: the event as the journal holds it. */
export function eventObject(
  session: string,
  { event, time }: Pick<RecordedEvent, 'event' | 'time'>,
): Record<string, unknown> {
  return {
    ...{ type: 'system', subtype: 'operator_event', session_id: session },
    ...{ time: new Date(time).toISOString(), event },
  };
}
