/** The agent types that a run names, looked at before anything of it starts. */
import { findDefinition, offeredDefinitions, unknownType } from '../../agents/prompts/built-in.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { RunTask } from '../../schema/operator-events.ts';
import type { LiveParts } from '../session/live-parts.ts';

/** The reviewers by the names of their types. Every type exists, and reviewers cannot change what they judge. */
export async function reviewersFor(
  review: readonly string[],
  tasks: readonly RunTask[],
  { types, family }: Pick<LiveParts, 'types' | 'family'>,
): Promise<readonly string[]> {
  const nameOf = async (type: string, mustRead: boolean, where: string): Promise<string> => {
    await family.parts.refreshDefinitions?.(type);
    const offered = offeredDefinitions(types.definitions);
    const found = findDefinition(offered, type);
    if (found === undefined) throw new UserMistake('unknown_type', `${where}${unknownType(type, offered)}`);
    if (mustRead && found.readOnly !== true)
      throw new UserMistake(
        'bad_reviewer',
        `${where}agents of the type ${found.name} may write, so they cannot review: name one that only reads, such as code-review`,
      );
    return found.name;
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
