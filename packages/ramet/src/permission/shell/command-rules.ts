/** A command as the text that Bash rules are held against. */
import type { PermissionRule } from '../rule.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { isHarmlessVariable } from './variables.ts';

export interface CommandTexts {
  /** Exact enough to give a right. */
  giving: string[];
  /** Every form that a rule which takes one away may be written in. */
  taking: string[];
}

export function textsOf(command: ShellCommand): CommandTexts {
  const { words, assignments, source } = command;
  const plain = words.map(plainText).join(' ').trim();
  const giving = assignments.every(isHarmlessVariable) ? [plain, source] : [source];
  const bare = words.map(bareText);
  const byName = [bare[0]?.split('/').at(-1) ?? '', ...bare.slice(1)].join(' ').trim();
  return { giving, taking: [...giving, plain, bare.join(' '), byName] };
}

export function commandRule(
  rules: readonly PermissionRule[],
  texts: readonly string[],
): PermissionRule | null {
  const match = rules.find(
    ({ scope }) => scope.kind === 'commands' && texts.some((text) => scope.pattern.matches(text)),
  );
  return match ?? null;
}

/** Quotes are dropped where they change nothing: `'git' "status"` is `git status`; `'~/x'` is not below home. */
function plainText({ value, source }: ShellWord): string {
  return value !== null && /^(?!~)[\w@%+=:,./~^-]+$/.test(value) ? value : source;
}

function bareText({ value, source }: ShellWord): string {
  return value ?? source;
}
