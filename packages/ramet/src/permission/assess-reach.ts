/**
 * What a call reaches besides a shell command: each file that it writes, the address it asks, and what else its tool does.
 * A tool of a program may do several of these in one call: what takes rights away needs one of them, what gives a right
 * needs all.
 */
import { resolve } from 'node:path';
import type { ToolAccess } from '../schema/tool-access.ts';
import { standingOfWrite, suggestWriteRule } from './assess-write.ts';
import type { Assessment, PermissionSubject } from './assessment.ts';
import { givingRule, type RuleTarget, takingRule } from './match-rules.ts';
import { aliasesOf, type PermissionPolicy } from './policy.ts';
import { hostOfUrl, offeredRule, type PermissionRule } from './rule.ts';

/** A call as rules see it: as a whole, the files that it writes, and those that it reads. */
export interface RuleTargets {
  readonly whole: RuleTarget;
  readonly files: readonly RuleTarget[];
  /** An address that a tool of a program asks: what may not be fetched is not for it either. */
  readonly fetched: readonly RuleTarget[];
}

export function ruleTargets(
  { name, isNamed, ofProgram }: PermissionSubject,
  { reads = [], writes = [], url, named }: ToolAccess,
  cwd: string,
  origin: Pick<PermissionPolicy, 'counterpart'>,
): RuleTargets {
  const host = url === undefined ? null : hostOfUrl(url);
  const whole = { tool: name, isNamed, cwd, paths: [], access: null, host, name: named ?? null };
  const files = (access: 'read' | 'write', given: readonly string[]): RuleTarget[] => {
    const paths = given.map((path) => resolve(cwd, path));
    return paths.length === 0 ? [] : [{ ...whole, access, paths, aliases: aliasesOf(origin, paths) }];
  };
  const fetched = ofProgram && url !== undefined ? [{ ...whole, tool: 'WebFetch', isNamed: undefined }] : [];
  return { whole, files: [...files('write', writes), ...files('read', reads)], fetched };
}

/** The first rule that takes something away from any part of the call. */
export function takingAny(
  rules: readonly PermissionRule[],
  { whole, files, fetched }: RuleTargets,
): PermissionRule | null {
  for (const target of [whole, ...files, ...fetched]) {
    const rule = takingRule(rules, target);
    if (rule !== null) return rule;
  }
  return null;
}

/** Whether rules cover the whole call. */
export function givenAll(rules: readonly PermissionRule[], { whole, files }: RuleTargets): boolean {
  if (givingRule(rules, whole) !== null) return true;
  return files.length > 0 && files.every((target) => givingRule(rules, target) !== null);
}

export interface ReachAssessment extends Assessment {
  /** A rule allows every call of the tool. */
  readonly byName: boolean;
}

/** One thing that a call does, which nothing allows by itself. */
interface ReachPart {
  readonly reason: string;
  readonly allowed: boolean;
  readonly suggestion: string | null;
}

export function assessReach(
  policy: PermissionPolicy,
  subject: PermissionSubject,
  access: ToolAccess,
  { cwd, summary }: { readonly cwd: string; readonly summary: string },
): ReachAssessment {
  const { deny, ask, allow } = policy.rules;
  const targets = ruleTargets(subject, access, cwd, policy);
  const byName = givingRule(allow, targets.whole) !== null;
  const parts = partsOf(policy, subject, access, targets.whole);
  const open = parts.filter(({ allowed }) => !allowed);
  const suggestions = open.flatMap(({ suggestion }) => suggestion ?? []);
  return {
    denied: takingAny(deny, targets),
    asked: takingAny(ask, targets),
    harmless: parts.length === 0,
    reachesOut: access.url !== undefined && parts.length === 1 && onlyAsks(subject),
    allowed: byName || open.length === 0,
    byName,
    question: {
      summary,
      reason: joinedReasons((open.length > 0 ? open : parts).map(({ reason }) => reason)),
      suggestedRules: suggestions.length < open.length ? [] : [...new Set(suggestions)],
    },
  };
}

/** Of a tool of a program that executes something nobody knows what else it does. */
function onlyAsks({ effect, ofProgram }: PermissionSubject): boolean {
  return effect === 'read' || (effect === 'execute' && ofProgram !== true);
}

function partsOf(
  policy: PermissionPolicy,
  { name, effect }: PermissionSubject,
  { writes = [], url, command }: ToolAccess,
  whole: RuleTarget,
): ReachPart[] {
  const parts = writes.map((path) => writePart(policy, resolve(whole.cwd, path), whole));
  const says = (reason: string): void => {
    parts.push({ reason, allowed: false, suggestion: suggestCallRule(name, whole.host) });
  };
  if (url !== undefined) says('it talks to the network');
  else if (effect === 'write' && writes.length === 0) says('it changes something');
  // What runs is the command, which is judged by itself.
  else if (effect === 'execute' && command === undefined) says('it runs something');
  return parts;
}

function writePart(policy: PermissionPolicy, path: string, whole: RuleTarget): ReachPart {
  const { mode, rules } = policy;
  const { cwd } = whole;
  const standing = standingOfWrite(mode, path, cwd, rules);
  const target: RuleTarget = { ...whole, access: 'write', paths: [path], aliases: aliasesOf(policy, [path]) };
  return {
    reason: standing.trusted ? '' : standing.reason,
    allowed: standing.trusted || givingRule(rules.allow, target) !== null,
    suggestion: suggestWriteRule(path, cwd),
  };
}

export function joinedReasons(reasons: readonly string[]): string {
  return [...new Set(reasons.filter(Boolean))].join('; ');
}

/** A host name may have stars, as in http://*.example.org/; in a rule they would stand for other hosts. */
function suggestCallRule(tool: string, host: string | null): string | null {
  if (tool.includes('*') || host?.includes('*') === true) return null;
  return offeredRule(host === null ? tool : `${tool}(domain:${host})`, [tool]);
}
