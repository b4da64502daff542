/**
 * What is permitted, as rules and as a mode (RES-3). Rules are three lists that are looked through in the order deny,
 * ask, allow; the first list with a rule that matches decides, however special another rule may be. An agent's calls
 * are judged under its own mode, and never under a wider one than its ancestors'.
 */
import type { PermissionMode, SessionMode } from '../schema/status.ts';
import { type PermissionRule, parseRule, type RuleProblem } from './rule.ts';
import type { RuleContext } from './rule-context.ts';

/** From narrow to wide. */
export const MODES_BY_WIDTH: readonly SessionMode[] = [
  'plan',
  'dontAsk',
  'default',
  'acceptEdits',
  'bypassPermissions',
];

/** For a person who chooses it for a session. */
export const BUBBLE_REFUSED =
  'the permission mode bubble is for agents that other agents start: they have their parent’s mode';

/** Rules as people write them: `Bash(npm test:*)`, `Edit(src/**)`, `mcp__server__tool`. */
export interface RuleTexts {
  allow?: readonly string[] | undefined;
  ask?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
}

export interface RuleSet {
  /** What a managed policy keeps a user from giving. */
  readonly closed?: ClosedWays | undefined;
  /** Directories whose files count like those of the working directory. */
  readonly folders?: readonly string[] | undefined;
  /** Places that decide what runs: no mode but `bypassPermissions` lets an agent write there. */
  readonly guarded?: readonly string[] | undefined;
  readonly allow: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
}

/** Ways to permit more that are closed to the user of this machine. */
export interface ClosedWays {
  /** Only rules of the policy allow anything. */
  readonly rules?: boolean | undefined;
  readonly bypass?: boolean | undefined;
}

/** What one decision is made by: the agent's mode and the session's rules. */
export interface PermissionPolicy {
  readonly mode: SessionMode;
  readonly rules: RuleSet;
  /** The agent changes nothing, whatever mode and rules would allow; nobody is asked about it (TYPE-2). */
  readonly readOnly?: boolean | undefined;
  /** What a person who is there does about a mode that refuses, in place of flags; empty if nothing helps. */
  readonly modeAdvice?: string | undefined;
  /** There is a read-only sandbox that works, so judging commands may be generous. Else only the strict rules hold. */
  readonly wall?: boolean | undefined;
  /** Of an agent in a worktree: the same path in the checkout that rules were written for; null for others. */
  readonly counterpart?: ((path: string) => string | null) | undefined;
}

/** What rules may know these paths by besides. */
export function aliasesOf(
  { counterpart }: Pick<PermissionPolicy, 'counterpart'>,
  paths: readonly string[],
): string[] {
  return counterpart === undefined ? [] : paths.flatMap((path) => counterpart(path) ?? []);
}

/** The rules of a running session, which grow when a person answers "always". */
export interface SessionRules {
  readonly rules: RuleSet;
  /** Takes what can be read as a rule; the rest comes back. */
  allow(texts: readonly string[]): RuleProblem[];
  /** What texts mean as rules of this session, without those that cannot be read. */
  reading(texts: RuleTexts): RuleSet;
  /** The rules of one agent: those of all, and its own. The same object while nothing changes. */
  rulesOf(agent: string): RuleSet;
  /** Rules for one agent, until they are taken back; takes what can be read as a rule, and the rest comes back. */
  grant(agent: string, texts: RuleTexts): { readonly problems: readonly RuleProblem[]; takeBack(): void };
  /** Takes all of them back. */
  revoke(agent: string): void;
  /** Rules that hold from now on, too. */
  add(more: RuleSet): void;
  /** Calls `look` when rules were added, or `changed` was called, until what it returns is called. */
  watch(look: () => void): () => void;
  /** Tells those who watch that something else that decides has changed, such as a mode. */
  changed(): void;
}

export const NO_RULES: RuleSet = { allow: [], ask: [], deny: [] };

const LISTS = ['allow', 'ask', 'deny'] as const;

/** Where rules come from: `place` is for messages, a file or a flag. */
export type RuleOrigin = Omit<RuleContext, 'list'>;

export function parseRules(
  texts: RuleTexts,
  context: RuleOrigin,
): { rules: RuleSet; problems: RuleProblem[] } {
  const rules: Record<(typeof LISTS)[number], PermissionRule[]> = { allow: [], ask: [], deny: [] };
  const problems: RuleProblem[] = [];
  for (const list of LISTS) {
    for (const text of texts[list] ?? []) {
      const parsed = parseRule(text, { list, ...context });
      if (parsed.ok) rules[list].push(parsed.rule);
      else problems.push(parsed.problem);
    }
  }
  return { rules, problems };
}

export function joinRules(...sets: readonly RuleSet[]): RuleSet {
  const folders = sets.flatMap((one) => one.folders ?? []);
  const guarded = sets.flatMap((one) => one.guarded ?? []);
  const closed = sets.find((one) => one.closed !== undefined)?.closed;
  return {
    ...(closed && { closed }),
    ...(folders.length > 0 && { folders }),
    ...(guarded.length > 0 && { guarded }),
    allow: sets.flatMap(({ allow }) => allow),
    ask: sets.flatMap(({ ask }) => ask),
    deny: sets.flatMap(({ deny }) => deny),
  };
}

export function sessionRules(start: RuleSet, origin: Omit<RuleOrigin, 'place'>): SessionRules {
  let rules = start;
  const granted = new Map<string, readonly RuleSet[]>();
  const joined = new Map<string, { of: RuleSet; rules: RuleSet }>();
  const watching = new Set<() => void>();
  const changed = (): void => {
    for (const look of [...watching]) look();
  };
  return {
    get rules() {
      return rules;
    },
    reading: (texts) => parseRules(texts, { ...origin, place: 'this session' }).rules,
    rulesOf(agent) {
      const own = granted.get(agent) ?? [];
      if (own.length === 0) return rules;
      const known = joined.get(agent);
      if (known?.of === rules) return known.rules;
      const all = joinRules(rules, ...own);
      joined.set(agent, { of: rules, rules: all });
      return all;
    },
    grant(agent, texts) {
      const { rules: own, problems } = parseRules(texts, { ...origin, place: 'this session' });
      const set = (all: readonly RuleSet[]): void => {
        granted.set(agent, all);
        joined.delete(agent);
      };
      set([...(granted.get(agent) ?? []), own]);
      changed();
      return { problems, takeBack: () => set((granted.get(agent) ?? []).filter((one) => one !== own)) };
    },
    revoke(agent) {
      granted.delete(agent);
      joined.delete(agent);
    },
    add(more) {
      rules = joinRules(rules, more);
      changed();
    },
    allow(texts) {
      const known = new Set(rules.allow.map(({ text }) => text));
      const fresh = texts.filter((text) => !known.has(text));
      const parsed = parseRules({ allow: fresh }, { ...origin, place: 'this session' });
      if (parsed.rules.allow.length > 0) {
        rules = joinRules(rules, parsed.rules);
        changed();
      }
      return parsed.problems;
    },
    watch(look) {
      watching.add(look);
      return () => watching.delete(look);
    },
    changed,
  };
}

/** One line for people: which rule, where, and what is wrong with it. */
export function describeProblem({ text, place, list, reason }: RuleProblem): string {
  return `the ${list} rule ${JSON.stringify(text)} in ${place} ${reason}`;
}

/** `ceiling` is null for the main agent. `bubble` below nobody gives no right: it is the narrowest mode. */
export function effectiveMode(own: PermissionMode, ceiling: SessionMode | null): SessionMode {
  if (own === 'bubble') return ceiling ?? 'plan';
  if (ceiling === null) return own;
  return MODES_BY_WIDTH.indexOf(own) < MODES_BY_WIDTH.indexOf(ceiling) ? own : ceiling;
}
