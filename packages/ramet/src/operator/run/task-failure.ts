/** What a failure of an attempt means for its task: tried again after a while, or given to a person with what to do. */
import type {
  AttemptChange,
  ConflictSteps,
  OperatorRun,
  RecordedCheck,
  TaskConflict,
  TaskStatus,
} from '../../schema/operator-events.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { afterFailure as delayAfter } from '../schedule/breaker.ts';
import { eitherOf, operateCommand, resumeCommand } from './operate-command.ts';
import type { TaskActors } from './task-actors.ts';
import { MOVE_CAUSE } from './task-machine.ts';

export interface FailureNews {
  /** `failed`: its agent has failed. `rejected`: its work cannot be merged, or does not pass. `left_out`: not any more. */
  readonly event: 'failed' | 'rejected' | 'left_out';
  readonly cause: string;
  readonly message: string | null;
  /** Another attempt would not help. */
  readonly final?: boolean;
  readonly attempt?: AttemptChange;
  readonly check?: RecordedCheck | null;
  readonly conflict?: TaskConflict;
  /** What a person can do, with the commands. */
  readonly person?: string | undefined;
  /** How a person resolves it. */
  readonly steps?: ConflictSteps | undefined;
}

/** The news of an attempt whose agent has failed. */
export function failureOf(attempt: AttemptChange, cause: string, message: string | null): FailureNews {
  return { event: 'failed', cause, message, attempt: { ...attempt, state: 'failed', cause, message } };
}

export interface AfterNews {
  readonly status: TaskStatus;
  /** When it is tried again, if it is `waiting`. */
  readonly until: number;
}

/** Null if the failure is of no importance any more. */
export function recordFailure(
  actors: TaskActors,
  id: string,
  news: FailureNews,
  { now, run, failures }: { now: number; run: OperatorRun; failures: number },
): AfterNews | null {
  const { event: type, cause, message, final = false, attempt, check, conflict } = news;
  const next = delayAfter(failures + 1, { retries: run.retries, ...DELAYS });
  const until = now + (next.next === 'retry' && cause !== MOVE_CAUSE ? next.delayMs : 0);
  const facts = {
    ...(attempt !== undefined && { attempt }),
    ...(check !== undefined && { check }),
    ...(conflict !== undefined && { conflict }),
  };
  const status = actors.change(id, { type, cause, final }, (now) => ({
    ...facts,
    message,
    ...(now === 'waiting' && { until }),
    ...((now === 'frozen' || now === 'blocked') && { person: news.person ?? adviceFor(id, news, run) }),
  }));
  if (status === null && attempt !== undefined)
    actors.note(id, { attempt: { ...attempt, state: 'stopped' } });
  return status === null ? null : { status, until };
}

const DELAYS = { firstDelayMs: 2_000, longestDelayMs: 60_000 };

const ADVICE: Readonly<Record<string, string>> = {
  setup: 'repair what its worktree needs (setting worktree.setup)',
  isolation: 'repair what that says',
  base_check: 'the check fails without it too: repair that first',
  budget: 'raise its budget',
  git_failed: 'see what git says, and its branch',
  review: 'see what its reviewers say, and its branch',
};

function adviceFor(id: string, { cause, message, steps, conflict }: FailureNews, run: OperatorRun): string {
  // A clone or a shared checkout has failed before any set-up command.
  const isEarly = cause === 'setup' && message?.startsWith('it cannot be isolated') === true;
  const first = ADVICE[isEarly ? 'isolation' : cause];
  if (steps !== undefined) return twoWays(operateCommand(run, 'retry', id), steps, conflict?.files ?? []);
  const kinds = ['retry', ...(cause === 'review' ? (['approve'] as const) : []), 'skip'] as const;
  return `${first === undefined ? '' : `${first}; then: `}${eitherOf(kinds.map((kind) => operateCommand(run, kind, id)))}`;
}

/** For work that had landed and was removed by someone. */
export function waysBack(id: string, steps: readonly string[], run: OperatorRun): string {
  const commands = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  return [
    'To put it back as it was:',
    ...commands(steps),
    'Or let an agent do it again:',
    ...commands([operateCommand(run, 'retry', id), resumeCommand(run)]),
    'Or leave it out:',
    ...commands([operateCommand(run, 'skip', id)]),
  ].join('\n');
}

const MOST_FILES = 5;

/** Several lines: a command has a line of its own, with two spaces before it, and runs as it stands. */
function twoWays(
  retry: string,
  { merge, commit, resume, after }: ConflictSteps,
  files: readonly string[],
): string {
  const shown = files.slice(0, MOST_FILES).map(visibleLine).join(', ');
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  const commands = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  return [
    'To resolve it yourself, when the run is over:',
    ...commands(merge),
    `Edit the files with conflict markers${shown === '' ? '' : ` (${shown}${more})`}, then:`,
    ...commands([commit, resume, ...after]),
    'Or let an agent do it again:',
    ...commands([retry, resume]),
  ].join('\n');
}
