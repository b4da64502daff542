/** Predicts what the tasks of a list would take. Nothing is run. */
import { resolveModel } from '../../model/catalog.ts';
import { forecast, type TaskForecast } from '../../operator/plan/predict.ts';
import { taskGraph } from '../../operator/schedule/task-graph.ts';
import type { TaskList } from '../../operator/tasks/listed-task.ts';
import { callerOf } from '../calls/caller.ts';
import { DEFAULT_MODEL } from '../options.ts';
import { type LintQuestion, lintTasks } from './lint-tasks.ts';

export interface PlanQuestion extends LintQuestion {
  /** Whose prices count; the model of the default tier when absent. */
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
}

export async function planTasks(path: string, options: PlanQuestion = {}): Promise<TaskPlan> {
  const list = await lintTasks(path, options);
  const model = resolveModel(options.model ?? DEFAULT_MODEL, callerOf(options).env);
  if (list.problems.some(({ level }) => level === 'error')) return { list, model, left: 0, forecast: null };
  const graph = taskGraph(list, { optional: options.optional ?? false });
  return { list, model, left: graph.nodes.length, forecast: forecast(graph, model) };
}
