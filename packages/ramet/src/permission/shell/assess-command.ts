/**
 * What rules and the shell's syntax say about a Bash call. A script is allowed when every command in it is, by a
 * rule or because it only reads, and when every file it writes may be written.
 *
 * Two judges say what only reads. Behind the wall a generous one: a mistake of his writes nothing and reaches nobody.
 * Without it, and for what must run outside because its answer depends on the machine, a strict one: plain words,
 * pipes and lists, no tests in brackets, and programs that read no configuration of the project.
 */
import type { Assessment } from '../assessment.ts';
import type { PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { judgeCommand } from './judge-command.ts';
import { judgeFile } from './judge-file.ts';
import { judgeTaken } from './judge-taken.ts';
import { firstRule, openPart, type PartVerdict } from './part-verdict.ts';
import { namesProcesses } from './process-paths.ts';
import { type UnderstoodScript, understandScript } from './reading/understand-script.ts';
import { isHarmlessVariable, isHarmlessWalled } from './variables.ts';

export async function assessCommand(
  policy: PermissionPolicy,
  script: string,
  cwd: string,
): Promise<Assessment> {
  const { rules } = policy;
  const understood = await understandScript(script, { directories: [cwd] });
  const { variables } = understood;
  const parts = [
    ...understood.commands.map((command) => judgeCommand(policy, command, { cwd, variables })),
    ...understood.files.map((file) => judgeFile(policy, file, cwd)),
    ...judgeRest(understood),
  ];
  const taken = await judgeTaken(policy, { script, understood }, cwd);
  const syntax = judgeSyntax(understood, parts);
  const behindWall = policy.wall === true && !parts.some(({ host }) => host);
  const walled = behindWall && parts.every((part) => part.walled);
  const plain = [...parts, ...syntax];
  const open = walled ? [] : openParts(behindWall ? parts : plain, behindWall, policy);
  const blanket = blanketRule(rules.allow) !== null;
  return {
    denied: blanketRule(rules.deny) ?? firstRule(...[...parts, ...taken].map(({ denied }) => denied)),
    asked: blanketRule(rules.ask) ?? firstRule(...[...parts, ...taken].map(({ asked }) => asked)),
    harmless: walled || plain.every(({ harmless }) => harmless),
    where: walled ? 'wall' : 'host',
    covered: blanket || parts.every(({ allowed }) => allowed),
    allowed: blanket || plain.every(({ harmless, allowed }) => harmless || allowed),
    question: {
      summary: script,
      // All of them: what is left out could be what matters.
      reason: [...new Set(open.map(({ reason }) => reason))].join('; '),
      suggestedRules: suggestionsFor(open),
    },
  };
}

/** What a question or a refusal is about. What would pass behind the wall is no reason while something else is. */
function openParts(
  parts: readonly PartVerdict[],
  behindWall: boolean,
  { readOnly = false }: Pick<PermissionPolicy, 'readOnly'>,
): PartVerdict[] {
  // Rules give an agent that only reads nothing.
  const open = parts.filter(({ harmless, allowed }) => !harmless && (readOnly || !allowed));
  const worse = open.filter(({ walled }) => !walled);
  return behindWall && worse.length > 0 ? worse : open;
}

/** `Bash` or `Bash(*)`: whatever the command is. */
function blanketRule(rules: readonly PermissionRule[]): PermissionRule | null {
  const blanket = rules.find(
    ({ tool, scope }) =>
      tool.matches('Bash') &&
      (scope.kind === 'every call' || (scope.kind === 'commands' && scope.pattern.everything)),
  );
  return blanket ?? null;
}

function judgeRest({ variables, unclear }: UnderstoodScript): PartVerdict[] {
  const strange = variables.filter((variable) => !isHarmlessVariable(variable));
  return [
    ...strange.map((variable) => openPart(`it sets ${variable.name}`, isHarmlessWalled(variable))),
    ...variables
      .filter(namesProcesses)
      .map(({ name }) => openPart(`${name} leads to what belongs to processes`)),
    ...unclear.map((what) => openPart(`it cannot be judged because of ${what}`)),
  ];
}

/** The strict judge trusts plain syntax only, unless a rule has the last word on what is run. */
function judgeSyntax(understood: UnderstoodScript, parts: readonly PartVerdict[]): PartVerdict[] {
  if (parts.some(({ allowed }) => allowed)) return [];
  const features = understood.features.filter((feature) => !PLAIN_FEATURES.has(feature));
  if (handsOnMore(understood)) features.push('what xargs is given');
  return [...new Set(features)].map((feature) =>
    openPart(`it cannot be judged without a sandbox because of ${feature}`, true),
  );
}

/** What the strict judge takes besides literal words: each command in these is judged as if it stood alone. */
const PLAIN_FEATURES: ReadonlySet<string> = new Set([
  ...['a variable', 'a group', 'a subshell'],
  ...['the word for', 'the word if', 'the word while', 'the word until', 'the word case'],
]);

/** These give names of the project's own files on; what any other writes may be a path to anywhere. */
const NAMES_FILES = /^(?:xargs|find|fd|git|rg|grep|ls|head|tail|sort|uniq|cd)$/;

function handsOnMore({ commands }: UnderstoodScript): boolean {
  const programs = commands.map(({ layers }) => layers[0].words[0]?.value ?? '');
  return programs.includes('xargs') && !programs.every((program) => NAMES_FILES.test(program));
}

/** Rules that together would allow it all; none when one part has none. */
function suggestionsFor(open: readonly PartVerdict[]): string[] {
  const rules = open.flatMap(({ suggestion }) => suggestion ?? []);
  return rules.length < open.length ? [] : [...new Set(rules)];
}
