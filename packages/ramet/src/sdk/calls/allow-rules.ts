/** Allow rules that a person chooses at a question: whether they can be read, and where they are kept. */
import { join, relative } from 'node:path';
import { parseRules } from '../../permission/policy.ts';
import { isTrustedPlace } from '../../settings/read-settings.ts';
import { findPlace } from '../place.ts';
import { settingsPlace } from '../session/setup/session-settings.ts';
import { type CallOptions, callerOf } from './caller.ts';

/** `project`: for this checkout, in the file that is kept out of git. `user`: for every repository. */
export type SavedRulePlace = 'project' | 'user';

/** What is wrong with the first rule that cannot be read; null when all can. */
export function ruleProblem(rules: readonly string[], options: CallOptions = {}): string | null {
  const { cwd, env } = callerOf(options);
  const { root, userHome } = settingsPlace(findPlace({ cwd, env }), env);
  const [problem] = parseRules({ allow: rules }, { place: '', base: root, home: userHome }).problems;
  return problem === undefined ? null : `${problem.text} ${problem.reason}`;
}

/** Returns where they are now, in a few words. Throws a UserMistake when the file cannot be changed. */
export async function saveAllowRules(
  where: SavedRulePlace,
  rules: readonly string[],
  options: CallOptions = {},
): Promise<string> {
  const { cwd, env } = callerOf(options);
  const place = settingsPlace(findPlace({ cwd, env }), env);
  const { allowInFile } = await import('../../settings/allow-in-file.ts');
  if (where === 'user') {
    const path = join(place.home, 'settings.json');
    await allowInFile({ path, followLinks: true }, rules);
    return path;
  }
  const path = join(place.root, '.ramet/settings.local.json');
  const { keepingTrust } = await import('./trust.ts');
  await keepingTrust(place, path, () => allowInFile({ path, followLinks: false }, rules));
  const shown = relative(cwd, path);
  return isTrustedPlace(place) ? shown : `${shown}, which counts once you trust this folder: ramet trust`;
}
