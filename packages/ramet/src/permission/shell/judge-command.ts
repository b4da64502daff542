/** One command of a script, held against the rules, then against what only reads. */
import { openedPath, placeInside } from '../landing-path.ts';
import { takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { commandRule, textsOf } from './command-rules.ts';
import { dependsOnHost } from './host-programs.ts';
import type { PartVerdict } from './part-verdict.ts';
import { type PathStanding, standingOfPaths } from './process-paths.ts';
import type { JudgeKind } from './read-only-programs.ts';
import { readsOnly } from './reads-only.ts';
import { resolveWord } from './resolve-words.ts';
import type { ShellAssignment, ShellCommand } from './shell-reading.ts';
import { suggestCommandRule } from './suggest-command-rule.ts';
import { coveringRules } from './uncovered-options.ts';
import type { CommandLayers } from './understand-script.ts';
import { isHarmlessVariable, isHarmlessWalled } from './variables.ts';

const LONGEST_SHOWN = 80;

export interface CommandScene {
  cwd: string;
  /** What the script as a whole sets. */
  variables: readonly ShellAssignment[];
}

export function judgeCommand(
  policy: Pick<PermissionPolicy, 'rules' | 'counterpart'>,
  { layers, transparent }: CommandLayers,
  { cwd, variables }: CommandScene,
): PartVerdict {
  const { rules } = policy;
  const outer = layers[0];
  const inner = layers.at(-1) ?? outer;
  const assignments = layers.flatMap((layer) => layer.assignments.filter((each) => !ofRead(layer, each)));
  const strange = assignments.find((each) => !isHarmlessVariable(each));
  const atHome = inner.directories?.every((place) => placeInside(place, cwd) !== null) ?? false;
  // Behind a variable that may change what runs, only a rule that names the variable will do.
  const texts = strange === undefined ? layers.flatMap((layer) => textsOf(layer).giving) : [outer.source];
  const taking = layers.flatMap((layer) => textsOf(layer).taking);
  const paths = standingOfPaths(inner.words, inner.directories, 'walled');
  const known = { ...inner, words: inner.words.map((word) => resolveWord(word, variables)) };
  const reads = (kind: JudgeKind): boolean => {
    const command = kind === 'strict' ? known : inner;
    if (transparent) return true;
    return (
      readsOnly(command, cwd, kind) && standingOfPaths(command.words, inner.directories, kind) !== 'asks'
    );
  };
  const harmless = strange === undefined && reads('strict');
  return {
    denied: commandRule(rules.deny, taking) ?? readingRule(rules.deny, inner, policy, cwd),
    asked: commandRule(rules.ask, taking) ?? readingRule(rules.ask, inner, policy, cwd),
    harmless,
    walled: harmless || (assignments.every(isHarmlessWalled) && reads('walled')),
    host:
      !transparent && (paths === 'host' || dependsOnHost(inner.words[0]?.value ?? '', inner.words.slice(1))),
    allowed: atHome && commandRule(coveringRules(rules.allow, layers), texts) !== null,
    reason: strange === undefined ? reasonFor(inner, atHome, paths) : `it sets ${strange.name}`,
    suggestion: atHome && strange === undefined && paths !== 'asks' ? suggestCommandRule(inner) : null,
  };
}

/** How `read` cuts what it reads is nobody else's business. */
function ofRead({ words }: ShellCommand, { name }: ShellAssignment): boolean {
  return name === 'IFS' && words[0]?.value === 'read';
}

function reasonFor(command: ShellCommand, atHome: boolean, paths: PathStanding): string {
  if (paths === 'asks') return 'it may read what belongs to other processes';
  if (command.words[0]?.value === null) return 'which program it runs is known only then';
  const text = textsOf(command).giving[0] ?? '';
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  const advice = command.words.some(({ splits }) => splits) ? ' (quote what is expanded in it)' : '';
  return `it runs ${shown}${advice}${atHome ? '' : ' outside the working directory'}`;
}

/** What Read rules take away holds for files that a command names, too. A pattern or a variable may still hide one. */
function readingRule(
  rules: readonly PermissionRule[],
  { words, directories }: ShellCommand,
  policy: Pick<PermissionPolicy, 'counterpart'>,
  cwd: string,
): PermissionRule | null {
  if (!rules.some(({ scope }) => scope.kind === 'paths' && scope.access === 'read')) return null;
  const names = words.slice(1).flatMap(({ value }) => (value === null ? [] : namesIn(value)));
  const paths = (directories ?? [cwd]).flatMap((place) => names.map((name) => openedPath(place, name)));
  const opened = paths.filter((path) => path !== null);
  return takingRule(rules, {
    ...{ tool: 'Read', access: 'read', paths: opened, aliases: aliasesOf(policy, opened) },
    ...{ cwd, host: null, name: null },
  });
}

const MOST_LETTERS = 6;

/** What a word may name: itself, what stands behind a `=` or `@`, or behind letters of options: `-rf.env`. */
function namesIn(word: string): string[] {
  const assigned = word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : [];
  const letters = /^-[A-Za-z]/.test(word) ? Math.min(MOST_LETTERS, word.length - 2) : 0;
  const attached = Array.from({ length: letters }, (_, index) => word.slice(index + 2));
  const own = word.startsWith('-') ? [] : [word];
  return [...own, ...assigned, ...attached].flatMap((name) =>
    name.startsWith('@') ? [name, name.slice(1)] : [name],
  );
}
