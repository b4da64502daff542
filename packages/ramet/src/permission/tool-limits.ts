/**
 * What an agent's type says about single calls of its tools: `Bash(git log:*)` in its list means that no other command is
 * for it. It takes rights away and gives none: what passes is judged like any other call (RES-3).
 */
import { givenAll, ruleTargets, takingAny } from './assess-reach.ts';
import type { PermissionDetails, PermissionSubject } from './assessment.ts';
import { parseRules, type RuleOrigin, type RuleSet } from './policy.ts';

/** Rules as they are written. */
export interface ToolLimits {
  /** A tool that one of them names may be called as one of them says, and not otherwise. */
  readonly only: readonly string[];
  /** Calls that it may not make. */
  readonly never: readonly string[];
  /** All tools that it may call, where its prompt has more; `mcp__*` is every name that begins so. */
  readonly tools?: readonly string[] | undefined;
}

/** Whether a tool is among those that an agent may call at all. */
export function isListedTool({ tools }: Pick<ToolLimits, 'tools'>, name: string): boolean {
  if (tools === undefined) return true;
  return tools.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name));
}

/** The same for several: those of a type, and of the types of its ancestors. */
export async function limitsRefusal(
  all: readonly ToolLimits[],
  subject: PermissionSubject,
  details: PermissionDetails,
  origin: Omit<RuleOrigin, 'place'>,
): Promise<string | null> {
  for (const limits of all) {
    const refusal = await limitRefusal(limits, subject, details, origin);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Why the call is not for the agent; null when it may be. */
export async function limitRefusal(
  { only, never, tools }: ToolLimits,
  subject: PermissionSubject,
  { input, cwd }: PermissionDetails,
  origin: Omit<RuleOrigin, 'place'>,
): Promise<string | null> {
  if (!isListedTool({ tools }, subject.name))
    return `${subject.name} is refused: agents of this type may use only ${tools?.join(', ')}`;
  const own = only.filter((text) => toolOf(text) === subject.name);
  const taken = never.filter((text) => toolOf(text) === subject.name);
  if (own.length === 0 && taken.length === 0) return null;
  const { rules } = parseRules({ allow: own, deny: taken }, { ...origin, place: 'the type of this agent' });
  const { denied, covered } = await heldAgainst(rules, subject, input, cwd);
  if (denied !== null) return `${subject.name} is refused: agents of this type may not use ${denied}`;
  if (own.length === 0 || covered) return null;
  return `${subject.name} is refused: agents of this type may use only ${own.join(', ')}`;
}

function toolOf(text: string): string {
  return text.split('(', 1)[0] ?? '';
}

async function heldAgainst(
  rules: RuleSet,
  subject: PermissionSubject,
  input: unknown,
  cwd: string,
): Promise<{ denied: string | null; covered: boolean }> {
  const access = subject.access?.(input) ?? {};
  if (access.command === undefined) {
    const targets = ruleTargets(subject, access, cwd, {});
    return {
      denied: takingAny(rules.deny, targets)?.text ?? null,
      covered: givenAll(rules.allow, targets),
    };
  }
  const { assessCommand } = await import('./shell/assess-command.ts');
  // In the narrowest mode nothing but a rule covers a part of it.
  const { denied, covered = false } = await assessCommand({ mode: 'plan', rules }, access.command, cwd);
  return { denied: denied?.text ?? null, covered };
}
