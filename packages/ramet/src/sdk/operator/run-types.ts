/** The agent types that a run names, looked at before anything of it starts. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { findDefinition, offeredDefinitions, unknownType } from '../../agents/prompts/built-in.ts';
import type { ListedTask, TaskProblem } from '../../operator/tasks/listed-task.ts';
import { readSettings } from '../../operator/tasks/task-settings.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { RunTask } from '../../schema/operator-events.ts';
import type { LiveParts } from '../session/live-parts.ts';

type JudgedType = { name: string } | { code: 'unknown_type' | 'bad_reviewer'; problem: string };

function judgedType(type: string, mustRead: boolean, offered: readonly AgentDefinition[]): JudgedType {
  const found = findDefinition(offered, type);
  if (found === undefined) return { code: 'unknown_type', problem: unknownType(type, offered) };
  if (!mustRead || found.readOnly === true) return { name: found.name };
  const problem = `agents of the type ${found.name} may write, so they cannot review: name one that only reads, such as code-review`;
  return { code: 'bad_reviewer', problem };
}

/** The same for every task of a list, as mistakes of its file. */
export function typeProblems(
  tasks: readonly ListedTask[],
  definitions: readonly AgentDefinition[],
): TaskProblem[] {
  const offered = offeredDefinitions(definitions);
  return tasks.flatMap((task) => {
    const { type, review = [] } = readSettings(task).settings;
    const named = [
      ...(type === undefined ? [] : [{ name: type, key: 'type' } as const]),
      ...review.map((name) => ({ name, key: 'review' }) as const),
    ];
    return named.flatMap(({ name, key }): TaskProblem[] => {
      const judged = judgedType(name, key === 'review', offered);
      const { line, column } = task.settingPlaces[key] ?? { line: task.line, column: 1 };
      return 'problem' in judged
        ? [{ file: task.file, line, column, level: 'error', message: `${task.id}: ${judged.problem}` }]
        : [];
    });
  });
}

/** The reviewers by the names of their types. Every type exists, and reviewers cannot change what they judge. */
export async function reviewersFor(
  review: readonly string[],
  tasks: readonly RunTask[],
  { types, family }: Pick<LiveParts, 'types' | 'family'>,
): Promise<readonly string[]> {
  const nameOf = async (type: string, mustRead: boolean, where: string): Promise<string> => {
    await family.parts.refreshDefinitions?.(type);
    const offered = offeredDefinitions(types.definitions);
    const judged = judgedType(type, mustRead, offered);
    if ('problem' in judged) throw new UserMistake(judged.code, `${where}${judged.problem}`);
    return judged.name;
  };
  const names: string[] = [];
  for (const type of review) names.push(await nameOf(type, true, 'review: '));
  for (const { file, line, settings } of tasks) {
    const where = file === null ? '' : `${file}:${line}: `;
    if (settings.type !== undefined) await nameOf(settings.type, false, where);
    for (const type of settings.review ?? []) await nameOf(type, true, where);
  }
  return [...new Set(names)];
}
