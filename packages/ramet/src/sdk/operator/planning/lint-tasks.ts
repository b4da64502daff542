/** Reads a task list and says what is wrong with it; nothing is run or written. */
import { dirname, resolve } from 'node:path';
import { findRepository } from '../../../git/repository.ts';
import { isKnownModel } from '../../../model/catalog.ts';
import {
  isEnded,
  type ListedTask,
  type TaskList,
  type TaskProblem,
} from '../../../operator/tasks/listed-task.ts';
import { readTaskList } from '../../../operator/tasks/read-task-list.ts';
import { type Caller, type CallOptions, callerOf } from '../../calls/caller.ts';
import { findPlace } from '../../place.ts';
import { typeProblems } from '../run-types.ts';

export interface LintQuestion extends CallOptions {
  /** Read list items without a box as tasks. */
  bullets?: boolean;
  /** Which list of a JSON file that has several. */
  tag?: string;
  /** Ids of tasks elsewhere, such as those of a run, that tasks of the list may wait for. */
  elsewhere?: ReadonlySet<string>;
}

/** `path` is a task file, or a folder with a file for each task. */
export async function lintTasks(path: string, options: LintQuestion = {}): Promise<TaskList> {
  const { cwd } = callerOf(options);
  const root = findRepository(dirname(resolve(cwd, path)))?.root;
  const { bullets, tag, elsewhere } = options;
  const list = await readTaskList(path, { cwd, root, bullets, tag, elsewhere });
  const more = await namedProblems(list, callerOf(options));
  if (more.length === 0) return list;
  const level = ({ level }: TaskProblem): number => Number(level === 'warning');
  const problems = [...list.problems, ...more].toSorted(
    (one, other) => level(one) - level(other) || one.line - other.line,
  );
  return { ...list, problems };
}

/** Agent types and models that tasks name: what a run would refuse, or send as it is. */
async function namedProblems({ tasks }: TaskList, { cwd, env }: Caller): Promise<TaskProblem[]> {
  const open = tasks.filter(({ status }) => !isEnded(status));
  const named = open.filter(({ settings: { type, review } }) => type !== undefined || review !== undefined);
  const models = open.flatMap((task) => modelProblem(task) ?? []);
  if (named.length === 0) return models;
  const { openAgentTypes } = await import('../../agent-types/agent-types.ts');
  using types = await openAgentTypes(findPlace({ cwd, env }), env);
  return [...models, ...typeProblems(named, types.definitions)];
}

function modelProblem({ id, file, line, settings, settingPlaces }: ListedTask): TaskProblem | null {
  const { model } = settings;
  if (model === undefined || isKnownModel(model)) return null;
  const message = `the model of ${id} is "${model}", which is neither a tier nor a model that is listed here: its id is sent as it is`;
  return { file, column: 1, line, ...settingPlaces.model, level: 'warning', message };
}
