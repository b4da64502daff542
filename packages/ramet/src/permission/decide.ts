/**
 * May this call run? Deny rules first, then whether the agent only reads, then ask and allow rules and its mode. No one
 * is asked here: what stays open comes back as a question. Looks at the file system only to see where a path leads;
 * shell commands are read by `shell/`, which is loaded with the first of them.
 */
import { resolve } from 'node:path';
import type { ToolAccess } from '../schema/tool-access.ts';
import { standingOfWrite, suggestWriteRule } from './assess-write.ts';
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
import { givingRule, type RuleTarget, takingRule } from './match-rules.ts';
import { aliasesOf, type PermissionPolicy, parseRules } from './policy.ts';
import { offeredRule, type PermissionRule, plainHost } from './rule.ts';

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
  if (access.command !== undefined) {
    const { assessCommand } = await import('./shell/assess-command.ts');
    const assessment = await assessCommand(policy, access.command, details.cwd);
    const { stopped } = details;
    const known = stopped === undefined ? assessment : stoppedAssessment(assessment, stopped);
    // Of a shell's own fields none changes what the command does; of another tool nobody knows.
    if (subject.ofProgram !== true) return settle(policy, subject.name, known);
    const question = { ...known.question, summary: callSummary(access, details, null) };
    return settle(policy, subject.name, { ...known, question });
  }
  const named = ruleTarget(subject, access, details.cwd);
  const target = { ...named, aliases: aliasesOf(policy, named.paths) };
  const summary = callSummary(access, details, subject.details?.(details.input).change ?? null);
  const assessment =
    subject.effect === 'write'
      ? assessWrite(policy, target, summary)
      : assessCall(policy, subject, { target, summary, reachesOut: access.url !== undefined });
  return settle(policy, subject.name, assessment);
}

function assessWrite({ mode, rules }: PermissionPolicy, target: RuleTarget, summary: string): Assessment {
  const { cwd } = target;
  const [path] = target.paths;
  const standing =
    path === undefined
      ? { trusted: false as const, reason: 'it changes something' }
      : standingOfWrite(mode, path, cwd, rules);
  return {
    denied: takingRule(rules.deny, target),
    asked: takingRule(rules.ask, target),
    harmless: false,
    allowed: standing.trusted || givingRule(rules.allow, target) !== null,
    question: {
      summary,
      reason: standing.trusted ? '' : standing.reason,
      suggestedRules: offers(
        path === undefined ? suggestCallRule(target.tool, null) : suggestWriteRule(path, cwd),
      ),
    },
  };
}

function assessCall(
  { rules }: PermissionPolicy,
  { name, effect }: PermissionSubject,
  { target, summary, reachesOut }: { target: RuleTarget; summary: string; reachesOut: boolean },
): Assessment {
  return {
    denied: takingRule(rules.deny, target),
    asked: takingRule(rules.ask, target),
    harmless: effect === 'read' && !reachesOut,
    reachesOut,
    allowed: givingRule(rules.allow, target) !== null,
    question: {
      summary,
      reason: reachesOut ? 'it talks to the network' : 'it runs something',
      suggestedRules: offers(suggestCallRule(name, target.host)),
    },
  };
}

/** A host name may have stars, as in http://*.example.org/; in a rule they would stand for other hosts. */
function suggestCallRule(tool: string, host: string | null): string | null {
  if (tool.includes('*') || host?.includes('*') === true) return null;
  return offeredRule(host === null ? tool : `${tool}(domain:${host})`);
}

function offers(rule: string | null): string[] {
  return rule === null ? [] : [rule];
}

/** Whether a call may be what a rule is about: a part of it is enough, and so is one that is known only when it runs. */
export async function mayConcern(
  rule: PermissionRule,
  subject: PermissionSubject,
  { input, cwd }: PermissionDetails,
  counterpart?: PermissionPolicy['counterpart'],
): Promise<boolean> {
  if (rule.scope.kind === 'every call') return rule.tool.matches(subject.name);
  const access = subject.access?.(input) ?? {};
  if (rule.scope.kind === 'commands') {
    if (access.command === undefined || !rule.tool.matches(subject.name)) return false;
    return (await import('./shell/may-run.ts')).mayRun(rule, access.command, cwd);
  }
  const target = ruleTarget(subject, access, cwd);
  return takingRule([rule], { ...target, aliases: aliasesOf({ counterpart }, target.paths) }) !== null;
}

/** What rules are about in a call, from what its tool says about it. */
export function ruleTarget(
  { name, effect }: PermissionSubject,
  { reads = [], writes = [], url, named }: ToolAccess,
  cwd: string,
): RuleTarget {
  const paths = [...writes, ...reads];
  return {
    tool: name,
    cwd,
    paths: paths.map((path) => resolve(cwd, path)),
    access: effect === 'write' ? 'write' : paths.length > 0 ? 'read' : null,
    host: hostOf(url),
    name: named ?? null,
  };
}

function hostOf(url: string | undefined): string | null {
  return url !== undefined && URL.canParse(url) ? plainHost(new URL(url).hostname) : null;
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
