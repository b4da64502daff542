/** Moves to a directory that a script does not name, or that lies outside an agent's worktree: `cd $X`. */
import { resolve } from 'node:path';
import { expandWord } from '../reading/expand-word.ts';
import { isMove, mayMove, namesSet } from '../reading/moving-words.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import { viewsOf } from './command-views.ts';
import { expansionScene, type FenceScene, fedRefusal, pathRefusal, settledWords } from './fence-scene.ts';

/** The first such move as it is written; null where every directory is named, and is the agent's own. */
export function untracedMove(scene: FenceScene): string | null {
  let at = scene.cwd;
  for (const { layers } of scene.understood.commands) {
    const to = afterCommand(scene, layers[0], at);
    if (to === null) return layers[0].source;
    at = to;
  }
  return null;
}

/** Where a command runs that stands behind moves to directories that variables hold. */
export function tracedPlace(scene: FenceScene, command: ShellCommand): string {
  let at = scene.cwd;
  for (const { layers } of scene.understood.commands) {
    if (layers[0] === command) break;
    at = afterCommand(scene, layers[0], at) ?? at;
  }
  return at;
}

/** Where the shell is after the command; null when nobody knows. */
function afterCommand(scene: FenceScene, command: ShellCommand, at: string): string | null {
  const words = settledWords(scene, command.words);
  const view = viewsOf({ words }).find(({ program }) => isMove(program));
  if (view === undefined) return mayMoveAway(scene, words, at) ? null : afterRenaming(scene, words, at);
  // What a stack of directories holds was traced before. None of them is nearer to the top than the worktree.
  if (view.program === 'popd') return isSteered(scene, command, /^DIRSTACK$/) ? null : scene.fence.root;
  const target = view.words.find(({ value }) => value === null || !/^-(?:[LPe@]+|-)$/.test(value));
  // Without a word it goes home, which is no agent's own.
  if (target === undefined) return view.program === 'cd' ? null : scene.fence.root;
  if (target.value === '-') return isSteered(scene, command, /^OLDPWD$/) ? null : scene.cwd;
  return isSteered(scene, command, /^(?:CDPATH|PWD)$/) ? null : endOf(scene, target, at);
}

function isSteered(scene: FenceScene, { assignments }: ShellCommand, names: RegExp): boolean {
  const isSet = [...assignments, ...scene.variables].some(
    ({ name, value }) => names.test(name) && value !== '',
  );
  return isSet || scene.understood.commands.some(({ layers }) => setsUnnamed(scene, layers[0]));
}

/** `printf -v "$name"`, `read "$name"`: the variable may be one that `cd` looks at. */
function setsUnnamed(scene: FenceScene, { words }: ShellCommand): boolean {
  const values = settledWords(scene, words).map(({ value }) => value);
  const sets = values.findIndex((value) => /^(?:printf|read|mapfile|readarray|getopts)$/.test(value ?? ''));
  if (sets === -1 || (values[sets] === 'printf' && !values[sets + 1]?.startsWith('-v'))) return false;
  return namesSet(values.slice(sets)).includes(null);
}

/** What carries a text that the shell runs later, or changes what names mean. */
const CARRIES = /^(?:eval|trap|alias|mapfile|readarray)$/;
const MOVE_INSIDE = /(?<![\w./-])(?:cd|pushd|popd)(?![\w./-])/;

/** Of a command that is no move as written: it may be one when it runs, to a place that is not the agent's. */
function mayMoveAway(scene: FenceScene, words: readonly ShellWord[], at: string): boolean {
  if (!mayMove(words)) return false;
  const index = words.findIndex(({ value }) => !/^(?:builtin|command|time|-\w*|--)$/.test(value ?? ''));
  const [program, ...operands] = words.slice(index);
  if (program === undefined) return false;
  if (program.value === null)
    return isSetHere(scene, program) && operands.some((word) => endOf(scene, word, at) === null);
  const texts = operands.map(({ source, value }) => value ?? source);
  if (CARRIES.test(program.value))
    return texts.some((text) => MOVE_INSIDE.test(text)) || operands.some((word) => holdsMove(scene, word));
  if (program.value === 'shopt') return texts.some((text) => /cdable_vars|[$`]/.test(text));
  return program.value === 'set' && texts.some((text) => /^[-+]\w*k|^keyword$/.test(text));
}

/** A program whose name only the environment has, such as `$CC`, is one like others. */
function isSetHere({ variables }: FenceScene, { source }: ShellWord): boolean {
  const used = Array.from(source.matchAll(/\$\{?!?([A-Za-z_]\w*)/g), ([, name]) => name);
  return /[`(]/.test(source) || variables.some(({ name }) => used.includes(/^\w*/.exec(name)?.[0]));
}

/** `eval "$x"`, where the script says what x is, or may be. */
function holdsMove(scene: FenceScene, word: ShellWord): boolean {
  if (word.value !== null) return false;
  return expandWord(word, expansionScene(scene)).some(({ text }) => MOVE_INSIDE.test(text));
}

/** `mv ../a ../b` in a: the shell may be nearer to the top than the names of its directories say. */
function afterRenaming(scene: FenceScene, words: readonly ShellWord[], at: string): string {
  const renames = words.some(({ value }) => value === 'mv');
  return renames && words.some(({ source }) => /\.\.|^["']?[$`/~]/.test(source)) ? scene.fence.root : at;
}

/** Where it leads from `at`; null when it may lead elsewhere. */
function endOf(scene: FenceScene, target: ShellWord, at: string): string | null {
  const ends: string[] = [];
  for (const { text, lead } of expandWord(target, expansionScene(scene))) {
    if (lead === 'unknown') return null;
    if (lead === 'computed' ? fedRefusal(scene) !== null : pathRefusal(scene, text, [at]) !== null)
      return null;
    ends.push(resolve(at, text));
  }
  // What follows may begin at any of them: the shortest is the nearest to the top.
  return ends.sort((one, other) => one.length - other.length)[0] ?? at;
}
