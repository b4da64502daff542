/**
 * What rules and the shell's syntax say about a Bash call. A script is allowed when every command in it is: by a
 * rule, or because it only reads; and every file it writes may be written.
 */
import { isAbsolute, relative, resolve } from 'node:path';
import { standingOfWrite, suggestWriteRule } from '../assess-write.ts';
import type { Assessment } from '../assessment.ts';
import { givingRule, type RuleTarget, takingRule } from '../match-rules.ts';
import type { PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { commandRule, textsOf } from './command-rules.ts';
import { loadShellParser } from './parse-shell.ts';
import { readsOnly } from './reads-only.ts';
import type { ShellFile } from './shell-reading.ts';
import { suggestCommandRule } from './suggest-command-rule.ts';
import { type CommandLayers, type UnderstoodScript, understandScript } from './understand-script.ts';
import { isHarmlessVariable } from './variables.ts';

/** What one part of a script comes to. */
interface PartVerdict {
  denied?: PermissionRule | null;
  asked?: PermissionRule | null;
  harmless: boolean;
  allowed: boolean;
  reason: string;
  /** Null when no rule could help. */
  suggestion: string | null;
}

const REASONS_SHOWN = 3;

export async function assessCommand(
  policy: PermissionPolicy,
  script: string,
  cwd: string,
): Promise<Assessment> {
  const understood = understandScript(await loadShellParser(), script, [cwd]);
  const parts = [
    ...understood.commands.map((command) => judgeCommand(policy, command, cwd)),
    ...understood.files.map((file) => judgeFile(policy, file, cwd)),
    ...judgeRest(understood),
  ];
  const everything = policy.rules.allow.find(coversEverything) !== undefined;
  const open = parts.filter(({ harmless, allowed }) => !harmless && !allowed);
  const reasons = [...new Set(open.map(({ reason }) => reason))].slice(0, REASONS_SHOWN);
  const suggestions = open.map(({ suggestion }) => suggestion);
  return {
    denied: bareRule(policy.rules.deny) ?? firstOf(parts.map(({ denied }) => denied)),
    asked: bareRule(policy.rules.ask) ?? firstOf(parts.map(({ asked }) => asked)),
    harmless: parts.every(({ harmless }) => harmless),
    allowed: everything || open.length === 0,
    question: {
      summary: script,
      reason: reasons.join('; '),
      suggestedRules: suggestions.includes(null)
        ? []
        : [...new Set(suggestions.filter((rule) => rule !== null))],
    },
  };
}

function judgeCommand(
  { rules }: PermissionPolicy,
  { layers, transparent }: CommandLayers,
  cwd: string,
): PartVerdict {
  const inner = layers.at(-1);
  const name = inner?.words[0]?.source ?? '';
  const assignments = layers.flatMap((layer) => layer.assignments);
  const strange = assignments.find((assignment) => !isHarmlessVariable(assignment));
  const giving = commandRule(
    rules.allow,
    layers.flatMap((layer) => textsOf(layer).giving),
  );
  const atHome = inner?.directories?.every((place) => isInside(place, cwd)) ?? false;
  const taking = layers.flatMap((layer) => textsOf(layer).taking);
  const denied = commandRule(rules.deny, taking) ?? deniedRead(rules.deny, layers, cwd);
  const asked = commandRule(rules.ask, taking) ?? deniedRead(rules.ask, layers, cwd);
  const harmless = strange === undefined && inner !== undefined && (transparent || readsOnly(inner, cwd));
  const reason =
    strange !== undefined
      ? `it sets ${strange.name}`
      : giving !== null && !atHome
        ? `${name} runs outside the working directory`
        : inner?.words[0]?.value === null
          ? 'which program it runs is known only then'
          : `it runs ${name}`;
  return {
    denied,
    asked,
    harmless,
    allowed: giving !== null && atHome,
    reason,
    suggestion: inner === undefined ? null : suggestCommandRule(inner),
  };
}

/** Files named in a command that only reads are files that are read. */
function deniedRead(
  rules: readonly PermissionRule[],
  layers: CommandLayers['layers'],
  cwd: string,
): PermissionRule | null {
  if (!rules.some(({ scope }) => scope.kind === 'paths' && scope.access === 'read')) return null;
  const words = layers.at(-1)?.words.slice(1) ?? [];
  const places = layers.at(-1)?.directories ?? [cwd];
  const paths = words.flatMap(({ value }) =>
    value === null || value.startsWith('-') ? [] : places.map((place) => resolve(place, value)),
  );
  return takingRule(rules, fileTarget('Read', 'read', paths, cwd));
}

function judgeFile(
  { mode, rules }: PermissionPolicy,
  { word, access, directories }: ShellFile,
  cwd: string,
): PartVerdict {
  const { value } = word;
  const paths =
    value === null || directories === null ? [] : directories.map((place) => resolve(place, value));
  if (access === 'read') {
    const target = fileTarget('Read', 'read', paths, cwd);
    return {
      denied: takingRule(rules.deny, target),
      asked: takingRule(rules.ask, target),
      harmless: true,
      allowed: true,
      reason: '',
      suggestion: null,
    };
  }
  const [path] = paths;
  const targets = ['Edit', 'Write'].map((tool) => fileTarget(tool, 'write', paths, cwd));
  const standings = paths.map((each) => standingOfWrite(mode, each, cwd));
  const standing = standings.find(({ trusted }) => !trusted);
  const known = path !== undefined;
  return {
    denied: firstOf(targets.map((target) => takingRule(rules.deny, target))),
    asked: firstOf(targets.map((target) => takingRule(rules.ask, target))),
    harmless: false,
    allowed:
      known && (standing === undefined || targets.some((target) => givingRule(rules.allow, target) !== null)),
    reason: known ? `it writes ${word.source}` : `it writes ${word.source}, a place that is known only then`,
    suggestion: known ? suggestWriteRule(path, cwd) : null,
  };
}

function fileTarget(
  tool: string,
  access: 'read' | 'write',
  paths: readonly string[],
  cwd: string,
): RuleTarget {
  return { tool, access, paths, cwd, host: null, name: null };
}

function judgeRest({ variables, unclear }: UnderstoodScript): PartVerdict[] {
  const strange = variables
    .filter((variable) => !isHarmlessVariable(variable))
    .map(({ name }) => `it sets ${name}`);
  const open = unclear.map((what) => `it cannot be judged because of ${what}`);
  return [...strange, ...open].map((reason) => ({
    harmless: false,
    allowed: false,
    reason,
    suggestion: null,
  }));
}

function coversEverything({ tool, scope }: PermissionRule): boolean {
  return (
    tool.matches('Bash') &&
    (scope.kind === 'every call' || (scope.kind === 'commands' && scope.pattern.everything))
  );
}

function bareRule(rules: readonly PermissionRule[]): PermissionRule | null {
  return rules.find(coversEverything) ?? null;
}

function firstOf(rules: readonly (PermissionRule | null | undefined)[]): PermissionRule | null {
  return rules.find((rule) => rule !== null && rule !== undefined) ?? null;
}

function isInside(path: string, directory: string): boolean {
  const inside = relative(directory, path);
  return !inside.startsWith('..') && !isAbsolute(inside);
}
