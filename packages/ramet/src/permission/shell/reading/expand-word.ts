/**
 * What a word may become when the shell expands it, as far as the script tells: `~`, braces, variables that it sets, and
 * substitutions whose answer is known. For the fence of a worktree, which asks where a word may lead.
 */
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { alternatives, hasBraces, substitutionEnd } from './expand-braces.ts';
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

/** `computed`: by commands of the same script, from names that they find. `unknown`: by nothing that is seen here. */
export type OpenKind = 'computed' | 'unknown';

export interface Expanded {
  /** With a plain name in place of what is not known. */
  text: string;
  /** Set where not even the beginning is known. */
  lead: OpenKind | null;
  /** It is the text that the shell makes: nothing in it stands for something else of its kind. */
  exact: boolean;
  /** It begins, or ends, with the name of a folder that the shell spells in another way: `.` for what `$PWD` holds. */
  begins?: boolean;
  ends?: boolean;
}

export interface ExpansionScene {
  variables: readonly ShellAssignment[];
  /** Where the shell may be, or may have been. */
  directories: readonly string[];
  root: string;
  temporary: string;
  /** What `git rev-parse` names in the worktree. */
  gitDirectories: () => { own: string; common: string } | null;
}

const SOME_NAME = '_';
const MOST = 64;
const DEEPEST = 6;
const START: Expanded = { text: '', lead: null, exact: true };

export function expandWord(word: ShellWord, scene: ExpansionScene): Expanded[] {
  if (word.value !== null) return known([word.value]);
  if (word.source === '…') return [openEnd('computed')];
  return expandSource(word.source, scene, 0);
}

function openEnd(lead: OpenKind): Expanded {
  return { text: SOME_NAME, lead, exact: false };
}

function expandSource(source: string, scene: ExpansionScene, depth: number): Expanded[] {
  if (depth > DEEPEST || source.length > 2_000) return [openEnd('unknown')];
  const words = alternatives(source, MOST);
  // Too many to write out: one of them may lead anywhere.
  if (words.some((each) => hasBraces(each))) return [openEnd('unknown')];
  const all = words.flatMap((each) => expandOne(each, scene, depth));
  if (all.length > MOST) return [openEnd('unknown')];
  // The two ends stand for all between them.
  return RANGE.test(source) ? inexact(all) : all;
}

const RANGE = /\{[^{}]*\.\.[^{}]*\}/;

/** Bash also expands `~` behind the sign of what looks like an assignment: `of=~/x`. */
const TILDE = /^((?:\w+=)?)~([+-]?\d*|[\w.-]*)(?=\/|$)/;

function expandOne(source: string, scene: ExpansionScene, depth: number): Expanded[] {
  const [whole = '', before = '', whose = ''] = TILDE.exec(source) ?? [];
  let found: Expanded[] = [START];
  if (whole !== '') {
    found = joined(known([before]), tilde(whose, scene, depth));
  }
  let quoted = false;
  for (let at = whole.length; at < source.length; ) {
    const character = source[at] ?? '';
    if (character === "'" && !quoted) {
      const end = source.indexOf("'", at + 1);
      found = joined(found, known([source.slice(at + 1, end === -1 ? undefined : end)]));
      at = end === -1 ? source.length : end + 1;
    } else if (character === '"') {
      quoted = !quoted;
      at++;
    } else if (character === '\\') {
      const next = source[at + 1] ?? '';
      found = joined(found, known([quoted && !/[$`"\\]/.test(next) ? `\\${next}` : next]));
      at += 2;
    } else if (!quoted && source.startsWith("$'", at)) return [openEnd('unknown')];
    else if (character === '$' || character === '`') {
      const end = substitutionEnd(source, at);
      found = joined(found, expansion(source.slice(at, end), scene, depth + 1));
      at = end;
    } else {
      found = joined(found, known([character]));
      at++;
    }
  }
  return found;
}

/** `~`, `~+` and `~-`, `~name`; `~1` is one of the folders that `pushd` keeps. */
function tilde(whose: string, scene: ExpansionScene, depth: number): Expanded[] {
  if (whose === '') return variable('HOME', scene, depth);
  if (whose === '-') return variable('OLDPWD', scene, depth);
  return /^[+-]?\d*$/.test(whose) ? variable('PWD', scene, depth) : guessed(`/home/${whose}`);
}

function known(texts: readonly string[]): Expanded[] {
  return texts.map((text) => ({ text, lead: null, exact: true }));
}

/** The text stands for one that leads to a place of the same kind. */
function guessed(text: string): Expanded[] {
  return [{ text, lead: null, exact: false }];
}

function inexact(found: readonly Expanded[]): Expanded[] {
  return found.map((one) => ({ ...one, exact: false }));
}

function joined(left: readonly Expanded[], right: readonly Expanded[]): Expanded[] {
  if (left.length * right.length > MOST) return [openEnd('unknown')];
  return left.flatMap((one) => right.map((two) => together(one, two)));
}

function together(one: Expanded, two: Expanded): Expanded {
  if (one.text === '') return { ...two, exact: one.exact && two.exact };
  if (two.text === '') return { ...one, exact: one.exact && two.exact };
  // `$PWD-old`, `x$PWD`: part of a name.
  const isCut = (one.ends && !/^[/:=@,;\s]/.test(two.text)) || (two.begins && !/[:=@,;\s]$/.test(one.text));
  return {
    ...{ text: one.text + two.text, lead: one.lead, exact: one.exact && two.exact && !isCut },
    ...(one.begins && { begins: true }),
    ...(two.ends && { ends: true }),
  };
}

/** Of folders that the shell calls by their whole names. */
function places(found: readonly Expanded[]): Expanded[] {
  return found.map((one) =>
    isAbsolute(one.text) ? one : { ...one, begins: true, ...(NO_NAME.test(one.text) && { ends: true }) },
  );
}

const NO_NAME = /(?:^|\/)\.{1,2}$/;

const NAMED = /^\$(?:\{([A-Za-z_]\w*)([^}]*)\}|([A-Za-z_]\w*))$/s;

/** One `$…` or what stands between backticks. */
function expansion(text: string, scene: ExpansionScene, depth: number): Expanded[] {
  if (text.startsWith('$((') || /^\$[?$!#]$|^\$\{#/.test(text)) return guessed('0');
  if (text.startsWith('$(')) return substitution(text.slice(2, -1).trim(), scene, depth);
  if (text.startsWith('`')) return substitution(text.slice(1, -1).trim(), scene, depth);
  if (text === '$') return known(['$']);
  const match = NAMED.exec(text);
  // `$1` and `$@`: what a function or a script is given.
  if (match === null) return [openEnd(/^\$\{?[\d@*]/.test(text) ? 'computed' : 'unknown')];
  const name = match[1] ?? match[3] ?? '';
  const change = match[2] ?? '';
  const otherwise = /^:?[-=](.*)$/s.exec(change)?.[1];
  const isSet = scene.variables.some((each) => each.name === name);
  if (otherwise !== undefined && !isSet && !OWN.test(name)) return expandSource(otherwise, scene, depth);
  const values = variable(name, scene, depth);
  if (otherwise !== undefined) return [...values, ...expandSource(otherwise, scene, depth)];
  if (change === '') return values;
  return inexact(change === '##*/' ? values.map((each) => ({ ...each, text: basename(each.text) })) : values);
}

const OWN = /^(?:HOME|PWD|OLDPWD|TMPDIR|RAMET_WORKTREE)$/;
/** They hold a name or a number. */
const NO_PATH =
  /^(?:USER|LOGNAME|UID|EUID|HOSTNAME|RANDOM|SECONDS|LINENO|EPOCHSECONDS|PPID|BASHPID|RAMET_SLOT|RAMET_PORT_BASE)$/;

function variable(name: string, scene: ExpansionScene, depth: number): Expanded[] {
  const given = scene.variables.filter((each) => each.name === name);
  // Whatever a script gives it, the next `cd` gives it another value.
  const moved = name === 'PWD' || name === 'OLDPWD' ? places(known(scene.directories)) : [];
  if (given.length > 0) {
    const values = given.flatMap((one) => {
      if (one.value !== null) return known([one.value]);
      if (one.source === undefined) return [openEnd('computed')];
      // `X=${X:-a}` is about what X was before.
      const before = { ...scene, variables: scene.variables.filter((each) => each !== one) };
      return expandSource(one.source, before, depth + 1);
    });
    return [...values, ...moved];
  }
  if (moved.length > 0) return moved;
  if (name === 'HOME') return known([homedir()]);
  if (name === 'TMPDIR') return known([scene.temporary]);
  if (name === 'RAMET_WORKTREE') return known([scene.root]);
  return NO_PATH.test(name) ? guessed(SOME_NAME) : [openEnd('unknown')];
}

/** These answer with a name or a number, which leads nowhere else. */
const NAMES =
  /^(?:basename|date|seq|wc|uname|whoami|id|hostname|nproc|uuidgen|expr|git\s+(?:rev-parse\s+(?:--short|--verify|HEAD|--abbrev-ref)|describe|branch\s+--show-current|rev-list|hash-object|write-tree|commit-tree))\b/;
/** These answer with names that they find where they are told to look. */
const FINDS = /^(?:find|fd|ls|e?grep|rg|git\s+(?:ls-files|diff|grep|status))\b/;
const OF_REPOSITORY =
  /^git\s+rev-parse\s+(?:--path-format=absolute\s+)?(--git-dir|--absolute-git-dir|--git-common-dir)(?:\s+2>\s*\/dev\/null)?$/;
const OF_ONE =
  /^(dirname|realpath|readlink\s+-[fe]|echo)\s+(?:--\s+)?("(?:[^"]|\$\(.*\))*"|'[^']*'|[^\s"'|;&]+)$/s;
const OF_MOVE =
  /^cd\s+(?:-[LP]\s+)?(?:--\s+)?("(?:[^"]|\$\(.*\))*"|'[^']*'|(?:[^\s"'|;&]|"[^"]*")+)\s*(?:>\s*\/dev\/null\s*(?:2>&1)?\s*)?&&\s*pwd(?:\s+-[LP])?$/s;
const OF_TOP =
  /^git\s+rev-parse\s+--show-toplevel(?:\s+2>\s*\/dev\/null)?(\s*\|\|\s*(?:pwd|echo\s+(?:\.|"?\$PWD"?)))?$/;

function substitution(inner: string, scene: ExpansionScene, depth: number): Expanded[] {
  if (/^mktemp\b/.test(inner)) return guessed(`${scene.temporary}/${SOME_NAME}`);
  if (/^pwd(?:\s+-[LP])?$/.test(inner)) return places(known(scene.directories));
  const [top, otherwise] = OF_TOP.exec(inner) ?? [];
  if (top !== undefined)
    return places(known([scene.root, ...(otherwise === undefined ? [] : scene.directories)]));
  if (/^git\s+rev-parse\s+--show-toplevel\b/.test(inner)) return guessed(scene.root);
  // `$0` is what starts the script, or a word that it is given.
  if (/^dirname\s+(?:--\s+)?"?\$(?:0|\{?BASH_SOURCE)/.test(inner))
    return inexact(places(known(scene.directories)));
  const [, asked] = OF_REPOSITORY.exec(inner) ?? [];
  const directories = asked === undefined ? null : scene.gitDirectories();
  if (directories !== null)
    return known([asked === '--git-common-dir' ? directories.common : directories.own]);
  const [, program = '', operand] = OF_ONE.exec(inner) ?? [];
  if (operand !== undefined) {
    const found = expandSource(operand, scene, depth + 1);
    if (program === 'echo') return found;
    return program === 'dirname' ? found.flatMap(parents) : places(found);
  }
  const to = OF_MOVE.exec(inner)?.[1];
  if (to !== undefined) return places(expandSource(to, scene, depth + 1));
  if (NAMES.test(inner)) return guessed(SOME_NAME);
  return [openEnd(FINDS.test(inner) ? 'computed' : 'unknown')];
}

/** Of a folder that is only called `.`, the name of the one above is another than its text gives. */
function parents(one: Expanded): Expanded[] {
  const parent = { ...one, text: dirname(one.text) };
  const all = NO_NAME.test(one.text) ? [parent, { ...one, text: join(one.text, '..') }] : [parent];
  return one.begins === true ? places(all) : all;
}
