/** The port of the operator that marks done tasks in their files. A file that cannot be written is told with each of its tasks. */
import { type MarkResult, markTasks } from '../../../operator/tasks/mark-task.ts';
import type { OperatorRun, RunTask } from '../../../schema/operator-events.ts';
import type { LiveParts } from '../../session/live-parts.ts';

export async function markDone(
  run: OperatorRun,
  tasks: readonly RunTask[],
  { cwd, repository }: Pick<LiveParts['place'], 'cwd' | 'repository'>,
): Promise<ReadonlyMap<string, MarkResult>> {
  const results = new Map<string, MarkResult>();
  for (const [file, own] of Map.groupBy(tasks, (task) => task.file)) {
    if (file === null) continue;
    const ids = own.map(({ id }) => id);
    const titles = new Map(own.map(({ id, title }) => [id, title]));
    const options = {
      cwd,
      root: repository?.root,
      // One that was added may have come from a list without boxes.
      bullets: run.bullets || file !== run.file,
      ...(run.tag !== null && { tag: run.tag }),
    };
    const marked = await markTasks(file, { ids, status: 'done', titles }, options).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      return new Map(ids.map((id): [string, MarkResult] => [id, { written: false, why }]));
    });
    for (const [id, result] of marked) results.set(id, result);
  }
  return results;
}
