/** What a definition file says about single calls of its tools, and which skills its agents know. */
import type { ProblemLevel } from '../../extensions/front-matter/field-problem.ts';
import { parseRules } from '../../permission/policy.ts';
import type { AgentDefinition } from './definition.ts';
import { readToolList } from './definition-tools.ts';

type Say = (field: string, level: ProblemLevel, message: string) => void;

/** `Bash(git log:*)` among the tools: no other command is for its agents. */
export function readToolLimits(
  tools: unknown,
  disallowed: unknown,
  known: readonly string[],
  say: Say,
): Pick<AgentDefinition, 'toolLimits'> {
  const listed = readToolList(tools, known);
  const taken = disallowed === undefined || disallowed === '' ? null : readToolList(disallowed, known);
  const only = (listed?.limited ?? []).filter(({ name }) => !listed?.whole.includes(name));
  const never = taken?.limited ?? [];
  for (const { rule } of only)
    if (!isRule(rule)) say('tools', 'warning', `${shown(rule)} is no rule, so it covers no call`);
  for (const { rule } of never)
    if (!isRule(rule))
      say('disallowedTools', 'warning', `${shown(rule)} is no rule: the whole tool is removed`);
  if (only.length === 0 && never.length === 0) return {};
  return {
    toolLimits: { only: only.map(({ rule }) => rule), never: never.map(({ rule }) => rule).filter(isRule) },
  };
}

export function isRule(text: string): boolean {
  return parseRules({ deny: [text] }, { base: '/', home: null, place: '' }).problems.length === 0;
}

export function readSkillNames(value: unknown, say: Say): Pick<AgentDefinition, 'skills'> {
  if (value === undefined || value === 'none') return {};
  const names = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,]+/) : null;
  if (names === null || !names.every((name): name is string => typeof name === 'string')) {
    say('skills', 'warning', 'it is not a list of names: left out');
    return {};
  }
  return { skills: names.map((name) => name.trim()).filter((name) => name !== '') };
}

function shown(rule: string): string {
  return JSON.stringify(rule.length > 60 ? `${rule.slice(0, 59)}…` : rule);
}
