/** A run of the operator for programs: the one object of `--output-format json`, and the lines of `stream-json`. */
import {
  NO_RUN,
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import { hitRate } from '../../schema/usage.ts';
import { nextStep } from './person-step.ts';
import { isRunWhole, needsPerson, summaryOf } from './run-summary.ts';

export interface RunFacts {
  /** Null where no run has begun. */
  session: string | null;
  /** Where `report.md` is; null where none was written. */
  report: string | null;
  now: number;
  /** What was wrong with the task file or the command. */
  problems?: readonly RunProblem[];
}

/** As `--lint --json` prints them; a place is null where it is in no file. */
export interface RunProblem {
  file: string | null;
  line: number | null;
  column: number | null;
  level: 'error' | 'warning';
  message: string;
}

export function runObject(state: OperatorState, facts: RunFacts): Record<string, unknown> {
  const { session, report, now, problems = [] } = facts;
  const { run, status, cause, message, landing, integrated, resumed, startedAt, baseCheck } = state;
  const { done, total, counts, costUsd, atLeastUsd, usage } = summaryOf(state);
  const hasFailed = problems.some(({ level }) => level === 'error');
  return {
    type: 'result',
    subtype: hasFailed ? 'error_during_execution' : isRunWhole(state) ? 'success' : 'error_tasks',
    is_error: hasFailed || !isRunWhole(state),
    session_id: session,
    ...{ status, cause, message },
    file: run?.file ?? null,
    target: run?.target ?? null,
    base: run?.base ?? null,
    base_check: baseCheck,
    integrated,
    landing,
    // A result that is kept beside the target is not on it.
    landed: landing?.state === 'moved',
    policy: run?.policy ?? null,
    review: run?.review ?? [],
    isolation: run?.isolation ?? null,
    isolation_why: run?.isolationWhy ?? null,
    counts: Object.fromEntries(counts),
    num_tasks: total,
    num_done: done,
    resumed,
    started_at: run === null ? null : new Date(startedAt).toISOString(),
    duration_ms: run === null ? 0 : Math.max(0, (status === 'ended' ? state.at : now) - startedAt),
    total_cost_usd: costUsd,
    cost_at_least_usd: atLeastUsd,
    budget_usd: run?.budget.usd ?? null,
    usage,
    cache_hit_rate: hitRate(usage),
    report,
    tasks: tasksOf(state).map((task) => taskObject(task, state)),
    problems,
  };
}

/** The same object where nothing was run: all is done already, or something is wrong. */
export function objectWithoutRun(
  file: string | null,
  { message, problems }: { message: string; problems: readonly RunProblem[] },
): Record<string, unknown> {
  const object = runObject(NO_RUN, { session: null, report: null, now: 0, problems });
  return { ...object, status: 'ended', message, file };
}

function taskObject(task: TaskState, state: OperatorState): Record<string, unknown> {
  const { status, cause, message, failures, result, check, conflict, question, marked, until } = task;
  const { id, title, file, line, phase, waits, files, gate } = task.task;
  return {
    ...{ id, title, file, line, phase, waits_for: waits, declared_files: files, gate },
    ...{ status, cause, message, failures, retry_at: until === null ? null : new Date(until).toISOString() },
    ...{ commit: result, check, conflict: conflictObject(conflict), question, marked },
    needs_person: needsPerson(task),
    next_step: nextStep(task, state),
    attempts: task.attempts.map(attemptObject),
  };
}

function conflictObject(conflict: TaskState['conflict']): Record<string, unknown> | null {
  if (conflict === null) return null;
  const { files, rounds, resolvedBy = [] } = conflict;
  const agents = resolvedBy.map(({ agent, session, costUsd }) => ({
    ...{ agent_id: agent, session_id: session, total_cost_usd: costUsd },
  }));
  return { files, rounds, resolved_by: agents };
}

function attemptObject(attempt: TaskAttempt): Record<string, unknown> {
  const { number, state, agent, branch, path, base, commit, files, cause, message, costUsd, usage } = attempt;
  const { startedAt, endedAt, isolation, reviews, check, notes } = attempt;
  return {
    ...{
      number,
      state,
      agent_id: agent,
      isolation,
      branch,
      path,
      base,
      commit,
      files,
      cause,
      message,
      notes,
      check,
    },
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
