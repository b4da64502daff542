/** Reads a task list and says what is wrong with it; nothing is run or written. */
import { dirname, resolve } from 'node:path';
import { findRepository } from '../../../git/repository.ts';
import type { TaskList } from '../../../operator/tasks/listed-task.ts';
import { readTaskList } from '../../../operator/tasks/read-task-list.ts';
import { type CallOptions, callerOf } from '../../calls/caller.ts';

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
  return readTaskList(path, { cwd, root, bullets, tag, elsewhere });
}
