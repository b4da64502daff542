/** Predicts what the tasks of a list would take. Nothing is run. */
import { resolveModel } from '../../../model/catalog.ts';
import { type Estimates, estimatesOf } from '../../../operator/plan/estimate.ts';
import { forecast, type TaskForecast } from '../../../operator/plan/predict.ts';
import type { RunHistory } from '../../../operator/plan/run-history.ts';
import { type TaskGraph, taskGraph } from '../../../operator/schedule/task-graph.ts';
import type { TaskList } from '../../../operator/tasks/listed-task.ts';
import type { RunTask } from '../../../schema/operator-events.ts';
import { callerOf } from '../../calls/caller.ts';
import { DEFAULT_MODEL } from '../../options.ts';
import { findPlace } from '../../place.ts';
import { type LintQuestion, lintTasks } from './lint-tasks.ts';
import { readHistories } from './read-histories.ts';

/** Older runs say less about the next one. */
const MOST_RUNS = 20;

export interface PlanQuestion extends LintQuestion {
  /** Whose prices count; the model of the last run when absent, or of the default tier. */
  model?: string;
  /** Include optional tasks. */
  optional?: boolean;
}

export interface TaskPlan {
  list: TaskList;
  model: string;
  /** How many tasks are left to do. */
  left: number;
  /** Null if the list has errors. */
  forecast: TaskForecast | null;
  /** What it rests on; null if there is no history. */
  history: Pick<Estimates, 'runs' | 'tasks' | 'known'> | null;
}

export async function planTasks(path: string, options: PlanQuestion = {}): Promise<TaskPlan> {
  const list = await lintTasks(path, options);
  const caller = callerOf(options);
  const hasErrors = list.problems.some(({ level }) => level === 'error');
  const runs = hasErrors ? [] : readHistories(findPlace(caller).project, MOST_RUNS, caller);
  const model = chosenModel(options, runs);
  if (hasErrors) return { list, model, left: 0, forecast: null, history: null };
  const graph = taskGraph(list, { optional: options.optional ?? false });
  // What is done is not planned.
  const open = new Set(graph.nodes.map(({ id }) => id));
  const estimated = list.tasks
    .filter(({ id }) => open.has(id))
    .map(({ id, title, settings: { type, effort } }) => ({ id, title, type, effort }));
  const history = estimatesOf(estimated, runs, model);
  return { list, model, left: graph.nodes.length, forecast: forecast(graph, model, history), history };
}

function chosenModel(options: PlanQuestion, runs: readonly RunHistory[]): string {
  const used = runs.flatMap(({ tasks }) => tasks).find((task) => task.model !== null)?.model;
  if (options.model === undefined && used !== undefined && used !== null) return used;
  return resolveModel(options.model ?? DEFAULT_MODEL, callerOf(options).env);
}

const MOST_AUTO = 8;

export interface PlannedRun {
  tasks: readonly RunTask[];
  graph: TaskGraph;
  model: string;
  project: string;
}

/** What `--parallel auto` means: what a plan of these tasks recommends, from earlier runs if there are any. */
export function autoWidth(
  { tasks, graph, model, project }: PlannedRun,
  note?: ((line: string) => void) | undefined,
): number {
  const runs = readHistories(project, MOST_RUNS, { note: note ?? (() => {}) });
  const known = tasks.map(({ id, title, settings: { type, effort } }) => ({ id, title, type, effort }));
  const { recommended } = forecast(graph, model, estimatesOf(known, runs, model));
  const width = Math.min(MOST_AUTO, recommended);
  const basis =
    runs.length === 0 ? 'defaults' : `${runs.length} earlier ${runs.length === 1 ? 'run' : 'runs'}`;
  note?.(`at most ${width} ${width === 1 ? 'agent works' : 'agents work'} at once (a plan from ${basis})`);
  return width;
}
