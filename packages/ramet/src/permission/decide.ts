/**
 * May this call run? Deny rules first, then whether the agent only reads, then ask and allow rules and its mode. No one
 * is asked here: what stays open comes back as a question. Looks at the file system only to see where a path leads;
 * shell commands are read by `shell/`, which is loaded with the first of them.
 */
import { resolve } from 'node:path';
import type { ToolAccess } from '../schema/tool-access.ts';
import { assessReach, joinedReasons, type ReachAssessment, ruleTargets, takingAny } from './assess-reach.ts';
import {
  ALLOW,
  type Assessment,
  type PermissionDecision,
  type PermissionDetails,
  type PermissionSubject,
  settle,
  stoppedAssessment,
} from './assessment.ts';
import { callSummary } from './call-summary.ts';
import { namesTool, takingRule } from './match-rules.ts';
import { type PermissionPolicy, parseRules } from './policy.ts';
import type { PermissionRule } from './rule.ts';

export async function decide(
  policy: PermissionPolicy,
  subject: PermissionSubject,
  details: PermissionDetails,
): Promise<PermissionDecision> {
  // Nothing could change the answer, so no shell grammar is loaded for it.
  const { deny, ask } = policy.rules;
  const isRuled = policy.readOnly === true || deny.length > 0 || ask.length > 0;
  if (policy.mode === 'bypassPermissions' && !isRuled) return ALLOW;
  const access = subject.access?.(details.input) ?? {};
  const { cwd } = details;
  if (access.command === undefined) {
    const summary = callSummary(access, details, subject.details?.(details.input).change ?? null);
    return settle(policy, subject.name, assessReach(policy, subject, access, { cwd, summary }));
  }
  const { assessCommand } = await import('./shell/assess-command.ts');
  const assessment = await assessCommand(policy, access.command, cwd);
  const { stopped } = details;
  const known = stopped === undefined ? assessment : stoppedAssessment(assessment, stopped);
  // Of a shell's own fields none changes what the command does; of another tool nobody knows.
  if (subject.ofProgram !== true) return settle(policy, subject.name, known);
  const summary = callSummary(access, details, null);
  return settle(policy, subject.name, joined(known, assessReach(policy, subject, access, { cwd, summary })));
}

/** A command, and what else the same call reaches: one of them is enough to ask about it. */
function joined(command: Assessment, reach: ReachAssessment): Assessment {
  const acting = [command, reach].filter(({ harmless }) => !harmless);
  const open = acting.filter(({ allowed }) => !allowed);
  const offered = open.map(({ question }) => question.suggestedRules);
  return {
    denied: reach.denied ?? command.denied,
    asked: reach.asked ?? command.asked,
    harmless: command.harmless && reach.harmless,
    where: command.where,
    reachesOut: command.harmless && reach.reachesOut === true,
    allowed: reach.byName || open.length === 0,
    question: {
      summary: reach.question.summary,
      reason: joinedReasons((open.length > 0 ? open : acting).map(({ question }) => question.reason)),
      suggestedRules: offered.some((rules) => rules.length === 0) ? [] : [...new Set(offered.flat())],
    },
  };
}

/** Whether a call may be what a rule is about: a part of it is enough, and so is one that is known only when it runs. */
export async function mayConcern(
  rule: PermissionRule,
  subject: PermissionSubject,
  { input, cwd }: PermissionDetails,
  counterpart?: PermissionPolicy['counterpart'],
): Promise<boolean> {
  const { name: tool, isNamed } = subject;
  if (rule.scope.kind === 'every call' && namesTool(rule, { tool, isNamed }, false)) return true;
  const access = subject.access?.(input) ?? {};
  if (access.command !== undefined && (rule.scope.kind !== 'commands' || rule.tool.matches(tool))) {
    const { isAboutCommands, mayRun } = await import('./shell/may-run.ts');
    if (isAboutCommands(rule) && (await mayRun(rule, access.command, { cwd, counterpart }))) return true;
  }
  return takingAny([rule], ruleTargets(subject, access, cwd, { counterpart })) !== null;
}

/**
 * Files that rules keep from being read, for tools that search many: Grep and Glob leave them out (RES-3). Plain data,
 * since an agent's process gets it from its host.
 */
export interface UnreadableFiles {
  /** Rules as they were written, and for where. */
  readonly rules: readonly { readonly text: string; readonly base: string; readonly home: string | null }[];
  /** The file or directory that was asked for by name: it is permitted already. */
  readonly named: string;
}

/** Undefined if no rule is about reading files, or the tool reads only what it was permitted. */
export function unreadableFiles(
  { rules }: Pick<PermissionPolicy, 'rules'>,
  { searches, reads: [named = '.'] = [] }: ToolAccess,
): UnreadableFiles | undefined {
  if (searches !== true) return undefined;
  // What would be asked about is not shown unasked.
  const about = [...rules.deny, ...rules.ask].filter(
    ({ scope }) => scope.kind === 'paths' && scope.access === 'read',
  );
  if (about.length === 0) return undefined;
  return { rules: about.map(({ text, base, home }) => ({ text, base, home })), named };
}

/** Whether a path must be left out. `counterpart` is the same path in the checkout that rules were written for. */
export function leavesOut(
  { rules, named }: UnreadableFiles,
  cwd: string,
  counterpart?: (path: string) => string | null,
): (path: string) => boolean {
  const parsed = rules.flatMap(
    ({ text, base, home }) => parseRules({ deny: [text] }, { base, home, place: '' }).rules.deny,
  );
  const allowed = resolve(cwd, named);
  return (path) => {
    const absolute = resolve(cwd, path);
    if (absolute === allowed) return false;
    const aliases = [counterpart?.(absolute) ?? []].flat();
    return (
      takingRule(parsed, {
        tool: 'Read',
        cwd,
        paths: [absolute],
        aliases,
        access: 'read',
        host: null,
        name: null,
      }) !== null
    );
  };
}
