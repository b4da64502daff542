/** `ramet operate --lint`: how a task file was read, and what is wrong with it. */
import { lintTasks } from '../../sdk/operator/lint-tasks.ts';
import { countText, isAllDone, problemText, taskListObject, taskListText } from '../../views/task-list.ts';

import { type CommandIo, callFrom, EXIT } from '../io.ts';

interface OperateOptions {
  lint?: boolean;
  json?: boolean;
  bullets?: boolean;
  tag?: string;
}

/** Exits with 1 if the file has errors. */
export async function operate(path: string, options: OperateOptions, io: CommandIo): Promise<number> {
  const list = await lintTasks(path, { ...options, ...callFrom(io) });
  const hasErrors = list.problems.some(({ level }) => level === 'error');
  if (options.lint) {
    io.out(options.json ? `${JSON.stringify(taskListObject(list))}\n` : taskListText(list));
    return hasErrors ? EXIT.failed : EXIT.done;
  }
  if (hasErrors) {
    io.out(problemText(list.problems));
    return EXIT.failed;
  }
  if (isAllDone(list)) {
    io.out(`${countText(list)}\n`);
    return EXIT.done;
  }
  io.note(`running tasks is not possible yet: "ramet operate --lint ${path}" reads the file and checks it`);
  return EXIT.wrongUse;
}
