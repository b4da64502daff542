/** The tasks of a list as a run takes them: only those without parts, each with what its agent is told about it. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { taskName } from '../../operator/run/operator-state.ts';
import type { TaskGraph } from '../../operator/schedule/task-graph.ts';
import { taskGraph } from '../../operator/schedule/task-graph.ts';
import type { ListedTask, TaskList } from '../../operator/tasks/listed-task.ts';
import { readSettings } from '../../operator/tasks/task-settings.ts';
import type { RunTask } from '../../schema/operator-events.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { decodeTextFile } from '../../system/text/text-file.ts';

/** More than this of a task's text does not go into a prompt. */
const LONGEST_TEXT = 4_000;

export interface TextPlace {
  cwd: string;
  /** Where the whole of a long text is kept for its agent. */
  directory: string;
}

export async function runTasks(
  list: TaskList,
  { optional }: { optional: boolean },
  place: TextPlace,
): Promise<{ tasks: RunTask[]; graph: TaskGraph }> {
  const graph = taskGraph(list, { optional });
  const byId = new Map(list.tasks.map((task) => [task.id, task]));
  const texts = await textsOf(list.tasks, place.cwd);
  const tasks = graph.nodes.flatMap(({ id, waits, barrier, files, held }): RunTask[] => {
    const listed = byId.get(id);
    if (listed === undefined) return [];
    const { title, file, line, phase, gate, declares } = listed;
    const known = { id, title, file, line, phase, waits, barrier, files, declares, gate, held };
    return [
      { ...known, settings: readSettings(listed).settings, ...bounded(id, texts.get(id) ?? '', place) },
    ];
  });
  return { tasks, graph };
}

/** From the line of a task to the line before the next one. */
async function textsOf(tasks: readonly ListedTask[], cwd: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const [file, own] of Map.groupBy(tasks, (task) => task.file)) {
    const text = decodeTextFile(await readFile(resolve(cwd, file)))?.text ?? '';
    const lines = text.split('\n');
    const starts = [...new Set(own.map(({ line }) => line))].sort((one, other) => one - other);
    for (const { id, line } of own) {
      const next = starts.find((start) => start > line) ?? lines.length + 1;
      texts.set(
        id,
        withoutNextSection(lines.slice(line - 1, next - 1))
          .join('\n')
          .trim(),
      );
    }
  }
  return texts;
}

/** A heading after the first line begins what is not the task's any more, unless it is below a heading of its own. */
function withoutNextSection(lines: readonly string[]): readonly string[] {
  const own = /^#{1,6}/.exec(lines[0] ?? '')?.[0].length ?? 0;
  const end = lines.findIndex((text, index) => {
    const level = /^(#{1,6})\s/.exec(text)?.[1]?.length;
    return index > 0 && level !== undefined && (own === 0 || level <= own);
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function bounded(id: string, text: string, { directory }: TextPlace): Pick<RunTask, 'text' | 'rest'> {
  const whole = text.toWellFormed();
  if (whole.length <= LONGEST_TEXT) return { text: whole, rest: null };
  makePrivateDirectory(directory);
  const rest = join(directory, `${taskName(id)}.md`);
  replaceWhole(rest, whole, PRIVATE_FILE);
  return { text: `${whole.slice(0, LONGEST_TEXT).toWellFormed()}…`, rest };
}
