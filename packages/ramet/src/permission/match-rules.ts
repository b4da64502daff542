/** Which rule speaks about a call. Giving a right needs more than taking one: see `path-pattern.ts`. */
import type { PermissionSubject } from './assessment.ts';
import type { PermissionRule } from './rule.ts';

/** A call as rules see it. */
export interface RuleTarget {
  tool: string;
  /** Whether a rule means it that names its tool in another way. */
  isNamed?: PermissionSubject['isNamed'];
  cwd: string;
  /** Files it touches, absolute. */
  paths: readonly string[];
  /** The same files in the checkout that the rules were written for, where that is another. */
  aliases?: readonly string[] | undefined;
  /** Folders that it changes with all they hold, absolute. */
  folders?: readonly string[] | undefined;
  access: 'read' | 'write' | null;
  /** Host it talks to. */
  host: string | null;
  /** Agent or skill it names. */
  name: string | null;
}

/** The first rule that takes something away from this call: any of its paths is enough. */
export function takingRule(rules: readonly PermissionRule[], target: RuleTarget): PermissionRule | null {
  return rules.find((rule) => matches(rule, target, false)) ?? null;
}

/** The first rule that covers the whole call. */
export function givingRule(rules: readonly PermissionRule[], target: RuleTarget): PermissionRule | null {
  return rules.find((rule) => matches(rule, target, true)) ?? null;
}

/** Whether it is about the tool, of whatever calls. */
export function namesTool(
  { tool }: PermissionRule,
  { tool: name, isNamed }: Pick<RuleTarget, 'tool' | 'isNamed'>,
  giving: boolean,
): boolean {
  return tool.matches(name) || isNamed?.(tool.name, giving) === true;
}

function matches(rule: PermissionRule, target: RuleTarget, giving: boolean): boolean {
  const { tool, scope } = rule;
  switch (scope.kind) {
    case 'every call':
      return namesTool(rule, target, giving);
    case 'paths': {
      const { cwd, paths, aliases = [], folders = [] } = target;
      if (scope.access !== target.access || paths.length + folders.length === 0) return false;
      const covered = (names: readonly string[]): boolean =>
        names.length > 0 && names.every((path) => scope.pattern.covers({ path, cwd }));
      return giving
        ? covered(paths) || (aliases.length === paths.length && covered(aliases))
        : [...paths, ...aliases].some((path) => scope.pattern.touches({ path, cwd })) ||
            folders.some((path) => scope.pattern.reachesInto({ path, cwd }));
    }
    case 'domain':
      return tool.matches(target.tool) && target.host !== null && hostMatches(scope.domain, target.host);
    case 'named':
      return tool.matches(target.tool) && target.name === scope.name;
    case 'commands':
      return false; // commands are taken apart first, by the shell's own room
  }
}

function hostMatches(domain: string, host: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain;
}
