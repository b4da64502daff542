/** The tasks of a list that a run does not have yet, as it takes them. */
import { join, resolve } from 'node:path';
import { taskOf } from '../../../operator/run/operator-state.ts';
import type { TaskList } from '../../../operator/tasks/listed-task.ts';
import type { RunTask } from '../../../schema/operator-events.ts';
import { callerOf } from '../../calls/caller.ts';
import { operatorDirectory } from '../../place.ts';
import { runTasks } from '../run-tasks.ts';
import { findRun, type RunCallOptions } from './ask-operator.ts';

export async function newTasks(
  list: TaskList,
  options: RunCallOptions & { optional: boolean; file: string },
): Promise<RunTask[]> {
  const { cwd, note } = callerOf(options);
  const { place, state } = findRun(options, { kind: 'add', what: options.file });
  const directory = join(operatorDirectory(place), 'tasks');
  const { tasks } = await runTasks(list, { optional: options.optional }, { cwd, directory });
  for (const { id, title } of tasks) {
    const known = taskOf(state, id)?.task.title ?? title;
    if (known !== title)
      note(`${id} is not added: the run has it as ${JSON.stringify(known)}; give the new one another id`);
  }
  const wanted = new Map(list.tasks.map(({ id, dependsOn }) => [id, dependsOn]));
  const isNew = (id: string): boolean => taskOf(state, id) === undefined;
  return tasks
    .filter(({ id }) => isNew(id))
    .map((task) => {
      // The file does not have them, so its own order says nothing about them.
      const others = (wanted.get(task.id) ?? []).filter((id) => !isNew(id) && !task.waits.includes(id));
      const file = task.file === null ? null : resolve(cwd, task.file);
      return { ...task, waits: [...task.waits, ...others], file };
    });
}

/** The ids of a run's tasks: those of a file that is added may wait for them. */
export function idsOfRun(file: string, options: RunCallOptions): ReadonlySet<string> {
  return new Set(findRun(options, { kind: 'add', what: file }).state.order);
}

/** A task that is told in words: it waits for nothing, and no file has it. */
export function newTask(text: string, options: RunCallOptions): RunTask {
  const { state } = findRun(options, { kind: 'add', what: text });
  let number = 1;
  while (taskOf(state, `ADD-${number}`) !== undefined) number += 1;
  const words = text.trim().toWellFormed();
  const [title = ''] = words.split('\n', 1);
  return {
    ...{ id: `ADD-${number}`, title: title.slice(0, LONGEST_TITLE), file: null, line: 0, phase: null },
    ...{
      waits: [],
      barrier: null,
      files: [],
      gate: null,
      held: false,
      settings: {},
      text: words,
      rest: null,
    },
  };
}

const LONGEST_TITLE = 200;
