/** The rules a session starts with. A rule that protects nothing is refused, not ignored. */
import {
  describeProblem,
  NO_RULES,
  parseRules,
  type RuleTexts,
  type SessionRules,
  sessionRules,
} from '../permission/policy.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Place } from './place.ts';

export function openRules(
  texts: RuleTexts | undefined,
  { cwd, repository }: Place,
  env: NodeJS.ProcessEnv,
): SessionRules {
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null };
  if (texts === undefined) return sessionRules(NO_RULES, origin);
  const { rules, problems } = parseRules(texts, { ...origin, place: 'the options' });
  const [problem] = problems;
  if (problem !== undefined) throw new UserMistake('bad_rule', describeProblem(problem));
  return sessionRules(rules, origin);
}
