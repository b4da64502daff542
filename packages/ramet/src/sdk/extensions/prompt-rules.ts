/**
 * The rules in `allowed-tools` and `disallowed-tools` of skills and commands that cannot be read. The user learns it
 * before the file is used: one that refuses something is not carried out without that limit. Loaded where there are such rules.
 */
import type { ExtensionPlace } from '../../extensions/extension-places.ts';
import type { FileProblem } from '../../extensions/front-matter/field-problem.ts';
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import { parseRules, type RuleOrigin } from '../../permission/policy.ts';
import type { RuleProblem } from '../../permission/rule.ts';

/** `tools` are those that a session has besides the built-in ones. */
export function ruleProblems(
  prompts: readonly PromptFile[],
  { root, userHome }: Pick<ExtensionPlace, 'root' | 'userHome'>,
  tools: readonly string[] = [],
): FileProblem[] {
  const origin = { base: root, home: userHome, tools, place: 'the file' };
  /** Hundreds of files have the same few rules. */
  const known = new Map<string, readonly Judged[]>();
  const judgedOnce = (list: 'allow' | 'deny', text: string): readonly Judged[] => {
    const key = `${list} ${text}`;
    const found =
      known.get(key) ?? parseRules({ [list]: [text] }, origin).problems.map((one) => judged(one, origin));
    known.set(key, found);
    return found;
  };
  return prompts.flatMap(({ path, allowedTools, disallowedTools }) =>
    [
      ...allowedTools.flatMap((text) => judgedOnce('allow', text)),
      ...disallowedTools.flatMap((text) => judgedOnce('deny', text)),
    ].map((one) => ({ path, line: null, ...one })),
  );
}

type Judged = Pick<FileProblem, 'field' | 'level' | 'message'>;

export function fieldOf({ list }: Pick<RuleProblem, 'list'>): string {
  return list === 'deny' ? 'disallowed-tools' : 'allowed-tools';
}

function judged({ list, text, reason }: RuleProblem, origin: RuleOrigin): Judged {
  const field = fieldOf({ list });
  const said = `${JSON.stringify(text)} ${reason}`;
  if (list === 'deny')
    return { field, level: 'error', message: `${said}: it is not carried out without that limit` };
  const [tool = ''] = text.split('(', 1);
  const asThere = parseRules({ allow: [text] }, { ...origin, tools: [tool] });
  // Another program has it: nothing is lost.
  if (asThere.problems.length === 0) return { field, level: 'inactive', message: `there is no tool ${tool}` };
  return { field, level: 'warning', message: said };
}
