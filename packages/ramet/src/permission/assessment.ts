/** What is known of a call before the mode has its say, and what the mode makes of it (RES-3). */

import type { CallDetails, ToolAccess } from '../schema/tool-access.ts';
import type { ClosedWays, PermissionPolicy, RuleSet } from './policy.ts';
import type { PermissionRule } from './rule.ts';

export const ALLOW: PermissionDecision = { kind: 'allow', confinement: 'none' };

export interface Assessment {
  /** The deny rule that matches, if one does. */
  denied: PermissionRule | null;
  /** The ask rule that matches. */
  asked: PermissionRule | null;
  /** It changes nothing and reaches nobody: every mode lets it pass. */
  harmless: boolean;
  /**
   * Of a harmless command: `wall` when only the read-only sandbox makes it so, `host` when the strict rules do and it
   * must run outside: there is no sandbox, or its answer depends on what the sandbox hides. Absent for other tools.
   */
  where?: 'wall' | 'host' | undefined;
  /**
   * It changes nothing and reaches another machine, as fetching a page does: read-only agents may, as far as others
   * may.
   */
  reachesOut?: boolean;
  /** Rules, or the mode's own trust in edits, cover all of it but what is harmless outside the sandbox too. */
  allowed: boolean;
  /** Of a command: rules alone cover all of it, so no judgement is needed. */
  covered?: boolean;
  question: OpenQuestion;
}

export function settle(
  {
    mode,
    rules,
    readOnly = false,
    modeAdvice,
  }: Pick<PermissionPolicy, 'mode' | 'readOnly' | 'modeAdvice'> & {
    readonly rules?: Pick<RuleSet, 'closed'>;
  },
  tool: string,
  assessment: Assessment,
): PermissionDecision {
  const { denied, asked, harmless, reachesOut = false, allowed, covered = false, question } = assessment;
  if (denied !== null)
    return deny(`${tool} is denied by the rule ${denied.text} in ${denied.place}. ${GO_ON}`);
  if (readOnly && !harmless && !reachesOut) return deny(readOnlyRefusal(tool, question.reason));
  if (mode === 'bypassPermissions' && asked === null) return readOnly ? judged(assessment) : ALLOW;
  if (mode === 'plan' && !harmless) {
    const advice = modeAdvice ?? (rules?.closed?.bypass === true ? '' : BYPASS);
    const why = `${tool} is not permitted: in plan mode nothing may be changed or run. ${GO_ON}`;
    return deny(why + forTheUser(advice));
  }
  if (asked === null && covered && !readOnly && mode !== 'plan') return ALLOW;
  if (asked === null && harmless) return judged(assessment);
  if (asked === null && allowed) return ALLOW;
  // No rule that allows, and no mode, beats one that asks: none is suggested.
  const open =
    asked === null
      ? question
      : {
          ...question,
          reason: `the rule ${asked.text} in ${asked.place} asks`,
          suggestedRules: [],
          byRule: asked.text,
        };
  if (mode !== 'dontAsk') return { kind: 'ask', question: open };
  const reason =
    `${tool} is not permitted: in this run only reading is allowed, and what rules allow; ${open.reason}. ${GO_ON}` +
    forTheUser(modeAdvice ?? `${whatWouldAllow(open, rules?.closed)} allows it`);
  return { kind: 'deny', reason, open };
}

function forTheUser(advice: string): string {
  return advice === '' ? '' : ` (For the user: ${advice}.)`;
}

/** What passes because of what it does, not because a rule or a person allowed it. */
function judged({ where }: Assessment): PermissionDecision {
  return where === undefined ? ALLOW : { kind: 'allow', confinement: where };
}

/** The same call after the sandbox has stopped it: it was judged wrongly, and only a rule or a person can allow it. */
export function stoppedAssessment(assessment: Assessment, stopped: string): Assessment {
  const { covered = false, question } = assessment;
  return {
    ...assessment,
    harmless: false,
    allowed: covered,
    question: { ...question, reason: `the read-only sandbox stopped it: ${stopped}` },
  };
}

/** For the user: the flags that would have let a call pass. */
export function whatWouldAllow(
  { suggestedRules, byRule, byHook }: Pick<OpenQuestion, 'suggestedRules' | 'byRule' | 'byHook'>,
  closed: ClosedWays = {},
): string {
  if (byRule !== undefined) return `removing the rule ${byRule}, or a run where a person can be asked,`;
  if (byHook === true) return 'only a run where a person can be asked, or without the hook that asks,';
  const flags = suggestedRules.map((rule) => `--allowedTools ${quoted(rule)}`).join(' ');
  const ways = [
    ...(flags === '' || closed.rules === true ? [] : [flags]),
    ...(closed.bypass === true ? [] : ['--permission-mode bypassPermissions']),
  ];
  if (ways.length > 0) return ways.join(' or ');
  return closed.rules === true
    ? 'only a rule in the managed settings of this machine'
    : 'only a run where a person can be asked';
}

/** For a person who pastes it into a shell: what the rule says came from a call. */
function quoted(rule: string): string {
  return /["$`\\!]/.test(rule) ? `'${rule.replaceAll("'", "'\\''")}'` : `"${rule}"`;
}

/** Why an agent that only reads may not do this; `reason` follows "because". */
export function readOnlyRefusal(tool: string, reason: string): string {
  const because = reason === '' ? '' : `, and ${reason}`;
  return `${tool} is not permitted: you are an agent that only reads${because}. ${GO_ON}`;
}

function deny(reason: string): PermissionDecision {
  return { kind: 'deny', reason };
}

export const GO_ON =
  'Do not try to get around this; do the rest, and say in your report what was left undone.';

const BYPASS = '--permission-mode bypassPermissions allows it';

/**
 * What a decision is made of, and what comes out of it.
 *
 * The part of a tool that permission looks at; see `tools/tool.ts` for what the effects mean.
 */
export interface PermissionSubject {
  name: string;
  effect: 'read' | 'write' | 'execute';
  /** The program that opened the session brought it. */
  ofProgram?: true;
  /** Whether a rule means it that names its tool in another way; `giving` for a rule that allows. */
  isNamed?(written: string, giving: boolean): boolean;
  /** What a call reaches; nothing that rules know when absent. */
  access?(input: unknown): ToolAccess;
  /** What views show of a call besides. */
  details?(input: unknown): CallDetails;
}

/** What rules match on: the call's input as validated, and where it would run. */
export interface PermissionDetails {
  input: unknown;
  cwd: string;
  /** What `~` stands for; rules with `~` match nothing when it is unknown. */
  home?: string | undefined;
  /** The sandbox stopped the command: why. The question is then whether it may run outside it. */
  stopped?: string | undefined;
}

export interface OpenQuestion {
  /** The command, the path or the address, and the rest of the input but what `details` have of it. */
  summary: string;
  reason: string;
  suggestedRules: readonly string[];
  /** The ask rule that makes it a question, whatever else would allow it. */
  byRule?: string | undefined;
  /** A hook makes it a question, whatever rules and the mode allow. */
  byHook?: boolean | undefined;
}

/**
 * How freely a permitted call runs. `wall`: it was judged to only read, and runs in the read-only sandbox. `host`: the
 * strict rules judged it to only read, and it runs outside. `none`: a rule, a person or the mode allowed it.
 */
export type Confinement = 'wall' | 'host' | 'none';

export type PermissionDecision =
  | { kind: 'allow'; confinement: Confinement }
  /** `open`: the question, where it is denied only because nobody may be asked. */
  | { kind: 'deny'; reason: string; open?: OpenQuestion }
  | { kind: 'ask'; question: OpenQuestion };
