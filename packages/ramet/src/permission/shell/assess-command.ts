/**
 * What rules and the shell's syntax say about a Bash call. A script is allowed when every command in it is, by a
 * rule or because it only reads, and when every file it writes may be written.
 *
 * Two judges say what only reads. Behind the wall a generous one: a mistake of his writes nothing and reaches nobody.
 * Without it, and for what must run outside because its answer depends on the machine, a strict one: plain words,
 * pipes and lists, no tests in brackets, and programs that read no configuration of the project.
 */
import { basename } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import { standingOfWrite, suggestWriteRule } from '../assess-write.ts';
import type { Assessment } from '../assessment.ts';
import { givingRule, type RuleTarget, takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { bracesExpanded } from './brace-operands.ts';
import { commandRule } from './command-rules.ts';
import { judgeCommand } from './judge-command.ts';
import { launchedScript } from './launched-commands.ts';
import { firstRule, openPart, type PartVerdict } from './part-verdict.ts';
import { namesProcesses, type PathStanding, standingOfPaths } from './process-paths.ts';
import { launcherNamed } from './programs/launchers.ts';
import type { JudgeKind } from './programs/read-only-programs.ts';
import type { ShellFile } from './reading/shell-reading.ts';
import { UNKNOWN_WORDS } from './reading/shell-word.ts';
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
    ...understood.unread.flatMap((text) => judgeUnread(policy, text, cwd)),
  ];
  const taken = await judgeLaunched(policy, { script, understood }, cwd);
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

/** What commands run besides themselves, for rules that take rights away. Whatever else is said about it is the launcher's. */
async function judgeLaunched(
  policy: PermissionPolicy,
  { script, understood }: { script: string; understood: UnderstoodScript },
  cwd: string,
): Promise<Pick<PartVerdict, 'denied' | 'asked'>[]> {
  const { deny, ask } = policy.rules;
  if (deny.length === 0 && ask.length === 0) return [];
  const { commands, files, variables, unread, isTooMuch } = await launchedScript(script, understood);
  // Nobody writes more than are read; one of the rest may be what a rule is about.
  const isAbout = ({ scope }: PermissionRule): boolean => scope.kind === 'commands' || scope.kind === 'paths';
  const rest = { denied: deny.find(isAbout) ?? null, asked: ask.find(isAbout) ?? null };
  return [
    ...(isTooMuch ? [rest] : []),
    ...commands.map((command) => judgeCommand(policy, command, { cwd, variables })),
    ...files.map((file) => judgeFile(policy, file, cwd)),
    ...unread.flatMap((text) => judgeUnread(policy, text, cwd)),
  ];
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

/**
 * A text that could not be read exactly, held against rules that take rights away: whatever could be a command or a
 * target in it counts as one. It may deny more than would run, and never lets pass.
 */
function judgeUnread(policy: PermissionPolicy, text: string, cwd: string): PartVerdict[] {
  const { deny, ask } = policy.rules;
  if (deny.length === 0 && ask.length === 0) return [];
  const commands = piecesOf(text);
  const targets = new Set(Array.from(text.matchAll(WRITES), ([, value = '']) => value));
  const files = Array.from(targets)
    .slice(0, MOST_TARGETS)
    .map((value) =>
      judgeFile(
        policy,
        { word: { source: value, value, start: value }, access: 'write', directories: [cwd] },
        cwd,
      ),
    );
  const isRest = ({ scope }: PermissionRule): boolean =>
    (scope.kind === 'commands' && commands === null) ||
    (scope.kind === 'paths' && targets.size > MOST_TARGETS);
  const taking = (rules: readonly PermissionRule[]): PermissionRule | null =>
    commandRule(rules, commands ?? []) ?? rules.find(isRest) ?? null;
  const part = {
    ...openPart('it cannot be judged as a whole'),
    denied: firstRule(taking(deny), ...files.map(({ denied }) => denied)),
    asked: firstRule(taking(ask), ...files.map(({ asked }) => asked)),
  };
  return part.denied === null && part.asked === null ? [] : [part];
}

const WRITES = />[>|&]?[ \t]*([^\s;&|()<>"'`\]]+)/g;
/** Where nobody writes more, the rest may be what a rule is about. */
const MOST_TARGETS = 10_000;
const MOST_TEXT = 4_000_000;

/** Whatever could be a command; null for more than is compared. */
function piecesOf(text: string): string[] | null {
  const found: string[] = [];
  let length = 0;
  for (const raw of text.split(/[;&|\n(){}`"'[\]]+/))
    for (const piece of withLaunched(raw.replaceAll('\\', '').trim())) {
      if (piece === '') continue;
      length += piece.length;
      if (length > MOST_TEXT) return null;
      found.push(piece);
    }
  return found;
}

/** Behind a launcher any word may be the command. */
function* withLaunched(piece: string): Generator<string> {
  yield piece;
  const [first = ''] = piece.split(/\s/, 1);
  if (launcherNamed(basename(first)) === null) return;
  for (const { index } of piece.matchAll(/\s+/g)) yield piece.slice(index).trimStart();
}

/** A file that the shell opens for a redirect: written like any file that a tool writes. */
function judgeFile(policy: PermissionPolicy, file: ShellFile, cwd: string): PartVerdict {
  const { mode, rules } = policy;
  const paths = placesOf(file);
  const tools = file.access === 'read' ? ['Read'] : ['Edit', 'Write'];
  const targetsAt = (places: readonly string[]): RuleTarget[] => {
    const names = { paths: places, aliases: aliasesOf(policy, places) };
    return tools.map((tool) => ({ tool, access: file.access, ...names, cwd, host: null, name: null }));
  };
  const targets = targetsAt(paths ?? []);
  const taken = targetsAt(paths ?? madeByBraces(file, cwd));
  const trusted = paths?.every((path) => standingOfWrite(mode, path, cwd, rules).trusted) ?? false;
  const given = paths !== null && targets.some((target) => givingRule(rules.allow, target) !== null);
  const [path] = paths ?? [];
  const standing = (kind: JudgeKind): PathStanding =>
    standingOfPaths([UNKNOWN_WORDS, file.word], file.directories, kind);
  return {
    denied: firstRule(...taken.map((target) => takingRule(rules.deny, target))),
    asked: firstRule(...taken.map((target) => takingRule(rules.ask, target))),
    harmless: file.access === 'read' && standing('strict') !== 'asks',
    walled: file.access === 'read' && standing('walled') !== 'asks',
    host: standing('walled') === 'host',
    allowed: trusted || given,
    reason: `it ${file.access === 'read' ? 'reads' : 'writes'} ${file.word.source}${paths === null ? ', a place that is known only then' : ''}`,
    suggestion: path === undefined || file.access === 'read' ? null : suggestWriteRule(path, cwd),
  };
}

/** Every place it may be; null when one of them is not known. */
function placesOf({ word: { value }, directories }: ShellFile): string[] | null {
  if (value === null || directories === null) return null;
  const places = directories.map((directory) => openedPath(directory, value));
  return places.includes(null) ? null : places.filter((place) => place !== null);
}

/** `> {docs/a,}` opens docs/a; of several names bash would open none. */
function madeByBraces({ word, directories }: ShellFile, cwd: string): string[] {
  const made = bracesExpanded([word], cwd).flatMap(({ value }) => value ?? []);
  return (directories ?? [cwd]).flatMap((place) => made.flatMap((name) => openedPath(place, name) ?? []));
}
