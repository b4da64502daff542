/** One command of a script, held against the rules, then against what only reads. */
import { placeInside } from '../../system/landing-path.ts';
import type { PermissionPolicy } from '../policy.ts';
import { commandRule, textsOf } from './command-rules.ts';
import { namingRule } from './named-files.ts';
import type { PartVerdict } from './part-verdict.ts';
import { type PathStanding, standingOfPaths } from './process-paths.ts';
import { dependsOnHost } from './programs/host-programs.ts';
import { readsOnly } from './programs/read-only-git.ts';
import type { JudgeKind } from './programs/read-only-programs.ts';
import { coveringRules } from './programs/uncovered-options.ts';
import type { ShellAssignment, ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import type { CommandLayers } from './reading/understand-script.ts';
import { suggestCommandRule } from './suggest-command-rule.ts';
import { isHarmlessVariable, isHarmlessWalled } from './variables.ts';

const WITH_VARIABLE = /^("?)([\w./-]*)(?:\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})([\w./:-]*)\1$/;

/** Set by the shell or the system, to a path that is nobody's secret. */
const OF_THE_SYSTEM = /^(?:HOME|PWD|OLDPWD)$/;

const PLAIN_PATH = /^(?![-/~])(?!.*\.\.)[\w.,:@%+/=-]+$/;

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
  const walled = harmless || (assignments.every(isHarmlessWalled) && reads('walled'));
  const naming = { cwd, readsOnly: walled };
  return {
    denied: commandRule(rules.deny, taking) ?? namingRule(rules.deny, known, policy, naming),
    asked: commandRule(rules.ask, taking) ?? namingRule(rules.ask, known, policy, naming),
    harmless,
    walled,
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

/**
 * What the strict judge may know of a variable: what the script itself gave it, everywhere. Where that is a plain
 * relative path, or a name that programs cannot take for an option, the word counts as such a path.
 */
function resolveWord(word: ShellWord, variables: readonly ShellAssignment[]): ShellWord {
  const match = word.value === null ? WITH_VARIABLE.exec(word.source) : null;
  if (match === null) return word;
  const [, quote = '', before = '', bare, braced, after = ''] = match;
  const name = bare ?? braced ?? '';
  if (before.includes('..') || after.includes('..')) return word;
  const given = variables.filter((variable) => variable.name === name);
  if (given.length === 0)
    return before === '' && quote !== '' && OF_THE_SYSTEM.test(name)
      ? { ...word, source: '~', start: '/' }
      : word;
  if (!given.every((each) => isPlain(each, quote !== ''))) return word;
  const [only] = given;
  if (given.length === 1 && only?.value != null) {
    const value = `${before}${only.value}${after}`;
    return { source: word.source, value, start: value };
  }
  const open = before === '' && given.some(({ value, start }) => value === null && start === '');
  return { source: '…', value: null, start: open ? '' : `${before}./` };
}

function isPlain({ value, start }: ShellAssignment, quoted: boolean): boolean {
  if (value !== null) return PLAIN_PATH.test(value);
  // The beginning of a pattern: what it matches begins so, too, and blanks in it do not split a word in quotes.
  return quoted && start !== undefined && /^(?![-/~])[\w./-]*$/.test(start) && !start.includes('..');
}
