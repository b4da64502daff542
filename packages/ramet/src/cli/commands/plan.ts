/** `ramet plan`: what the tasks of a file would take. */
import { planTasks } from '../../sdk/operator/planning/plan-tasks.ts';
import { countText, problemText } from '../../views/task-list.ts';
import { taskPlanObject, taskPlanText } from '../../views/task-plan.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintTable, styleFor } from '../output/painted.ts';

interface PlanOptions {
  json?: boolean;
  bullets?: boolean;
  tag?: string;
  model?: string;
  optional?: boolean;
}

/** Exits with 1 if the file has errors. */
export async function plan(path: string, options: PlanOptions, io: CommandIo): Promise<number> {
  const { list, model, left, forecast, history } = await planTasks(path, { ...options, ...callFrom(io) });
  if (forecast === null) {
    io.out(problemText(list.problems));
    return EXIT.failed;
  }
  const view = { model, left, forecast, history };
  if (options.json) io.out(`${JSON.stringify(taskPlanObject(view))}\n`);
  else io.out(left === 0 ? `${countText(list)}\n` : paintTable(taskPlanText(view), styleFor(io)));
  return EXIT.done;
}
