/** The rules a session starts with. A rule that protects nothing is refused, not ignored. */

import type { JournalReader } from '../../journal/journal.ts';
import {
  describeProblem,
  joinRules,
  parseRules,
  type SessionRules,
  sessionRules,
} from '../../permission/policy.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';

export function openRules(
  { permissions, env, others = [] }: ResolvedOptions,
  { cwd, repository }: Place,
): SessionRules {
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null };
  const { rules, problems } = parseRules(permissions, { ...origin, place: 'the options' });
  const [problem] = problems;
  if (problem !== undefined) throw new UserMistake('bad_rule', describeProblem(problem));
  const narrowing = others.map(
    ({ place, base, texts }) => parseRules(texts, { ...origin, base, place }).rules,
  );
  return sessionRules(joinRules(rules, ...narrowing), origin);
}

/**
 * What somebody answered "always" to holds for the rest of the session, so also after it was resumed. A rule that can
 * no longer be read gives nothing: then it is asked again.
 */
export function recallRules(permissions: SessionRules, reader: JournalReader): void {
  for (const { event } of reader.events({ type: 'permission.answered' })) {
    if (event.type === 'permission.answered') permissions.allow(event.rules);
  }
}
