/** How good plans were: for each run, the plan that the runs before it give, against what happened. */
import { estimatesOf } from './estimate.ts';
import { widthForecast } from './predict.ts';
import type { RunHistory } from './run-history.ts';

export interface ComparedRun {
  readonly startedAt: number;
  readonly width: number;
  readonly tasks: number;
  readonly predictedSeconds: number;
  readonly seconds: number;
  readonly predictedUsd: number | null;
  readonly usd: number | null;
}

export interface PredictionRecord {
  readonly compared: readonly ComparedRun[];
  /** Runs with nothing before them: a plan was a range from defaults. */
  readonly first: number;
  /** Runs that paused, crashed, waited for a person or have tasks that are not done: no plan is for these. */
  readonly disturbed: number;
  /** As shares of what happened; null if nothing can be compared. */
  readonly time: PredictionError | null;
  readonly cost: PredictionError | null;
}

export interface PredictionError {
  readonly median: number;
  readonly worst: number;
}

/** `runs` newest first. */
export function predictionRecord(runs: readonly RunHistory[]): PredictionRecord {
  let [first, disturbed] = [0, 0];
  const compared = runs.flatMap((run, index) => {
    if (!run.undisturbed || run.competing > 1 || run.tasks.length === 0) {
      disturbed += 1;
      return [];
    }
    const found = compare(run, runs.slice(index + 1));
    if (found === null) first += 1;
    return found ?? [];
  });
  return {
    ...{ compared, first, disturbed },
    time: errorOf(compared.map((run) => [run.predictedSeconds, run.seconds])),
    cost: errorOf(compared.map((run) => [run.predictedUsd, run.usd])),
  };
}

function compare(run: RunHistory, before: readonly RunHistory[]): ComparedRun | null {
  const model = run.tasks.find((task) => task.model !== null)?.model ?? '';
  const list = run.tasks.map(({ id, title, type, effort }) => ({
    ...{ id, title, type: type ?? undefined, effort: effort ?? undefined },
  }));
  const estimates = estimatesOf(list, before, model);
  if (estimates === null) return null;
  const ids = run.tasks.map(({ id }) => id);
  const forecast = widthForecast(
    { nodes: run.nodes },
    { width: run.width, ids, together: 1, model, estimates },
  );
  return {
    ...{ startedAt: run.startedAt, width: run.width, tasks: ids.length },
    predictedSeconds: forecast.seconds.likely,
    seconds: run.wallMs / 1000,
    predictedUsd: forecast.usd.planned?.likely ?? null,
    usd: run.costUsd,
  };
}

function errorOf(pairs: readonly (readonly [number | null, number | null])[]): PredictionError | null {
  const errors = pairs
    .flatMap(([predicted, actual]) =>
      predicted === null || actual === null || actual === 0 ? [] : Math.abs(predicted - actual) / actual,
    )
    .sort((one, other) => one - other);
  const worst = errors.at(-1);
  return worst === undefined ? null : { median: errors[Math.floor((errors.length - 1) / 2)] ?? worst, worst };
}
