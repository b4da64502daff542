/** Which commands move a shell, may move it, or change what its moves mean. */
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

export function isMove(name: string | null): boolean {
  return name === 'cd' || name === 'pushd' || name === 'popd';
}

/** These may change the directory, or how names of directories and commands are read. */
const MOVES = /^(?:cd|pushd|popd|eval|source|\.|shopt|dirs|enable|alias|fc|trap|mapfile|readarray)$/;
const PASSES_ON = /^(?:command|builtin|exec|time|env|nice|nohup|timeout|stdbuf)$/;
/** Of these, the ones that run what belongs to the shell. */
const RUNS_BUILTINS = /^(?:command|builtin|time)$/;

/** Of a command that is no move itself. */
export function mayMove([program, ...operands]: readonly ShellWord[]): boolean {
  if (program === undefined) return false;
  const values = operands.map(({ value }) => value);
  switch (program.value) {
    case null:
      return !namesFile(program);
    case 'set':
      return values.some((value) => value === null || /^[-+]\w*[Pk]|physical|keyword/.test(value));
    // What runs at the very end moves nothing before it.
    case 'trap':
      return values.length < 2 || !values.slice(1).every((value) => value === 'EXIT');
    case 'mapfile':
    case 'readarray':
      return values.some((value) => value === null || /^-\w*C/.test(value));
  }
  if (!PASSES_ON.test(program.value)) return MOVES.test(program.value);
  if (program.value === 'command' && /^-p?[vV]/.test(values[0] ?? '')) return false;
  return values.some((value) => MOVES.test(value ?? '')) || passesOnUnknown(program.value, operands);
}

function passesOnUnknown(name: string, operands: readonly ShellWord[]): boolean {
  const run = operands.find(({ value }) => value === null || !value.startsWith('-'));
  return RUNS_BUILTINS.test(name) && run?.value === null && !namesFile(run);
}

/** A word with a slash in any case runs a file, which cannot move the shell: `"$root/bin/x"`. */
function namesFile({ source, start, splits = false }: ShellWord): boolean {
  return start.includes('/') || /^~\//.test(source) || (!splits && /\/[\w.-]+"?$/.test(source));
}

/** Variables that `cd` looks at, and those that give a shell other options. */
const STEERS = /^(?:CDPATH|OLDPWD|PWD|HOME|DIRSTACK|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT)$/;

export function steersMoves({ name }: ShellAssignment): boolean {
  return STEERS.test(name);
}

const SETS = /^(?:read|unset|mapfile|readarray|getopts|wait|let)$/;
const NAME = /^([A-Za-z_]\w*)(?:\[|$)/;

/** The variables that a builtin sets; null for one whose name is known only then. */
export function namesSet(values: readonly (string | null)[]): readonly (string | null)[] {
  const isPassedOn = PASSES_ON.test(values[0] ?? '');
  const at = isPassedOn ? values.findIndex((value) => value === 'printf' || SETS.test(value ?? '')) : 0;
  const [name = null, ...operands] = at === -1 ? [] : values.slice(at);
  if (name === 'printf') return printed(operands);
  if (!SETS.test(name ?? '')) return [];
  if (name === 'let') return [null];
  const names = operands.map((value) => (value === null ? null : NAME.exec(value)?.[1]));
  return names.filter((found) => found !== undefined);
}

/** `printf -v name` */
function printed([option = '', name = null]: readonly (string | null)[]): readonly (string | null)[] {
  if (option === null) return [null];
  if (option === '-v') return [name];
  return option.startsWith('-v') ? [option.slice(2)] : [];
}

const LEAVES_DIRECTORIES =
  /^(?:cd|pushd|popd|pwd|echo|printf|ls|cat|head|tail|wc|grep|rg|true|false|:|test|\[|exit|export|set|date|which|type|dirname|basename|readlink|realpath)$/;

/** Whether directories are what they were after a command of this name. */
export function leavesDirectories(name: string | null): boolean {
  return LEAVES_DIRECTORIES.test(name ?? '');
}

/** `exit`, which nothing after it in its shell comes after. With more words, or a redirect, it can fail. */
export function endsShell(words: readonly ShellWord[]): boolean {
  const [name, status, ...more] = words.map(({ value }) => value);
  return name === 'exit' && more.length === 0 && (status === undefined || /^\d{1,3}$/.test(status ?? ''));
}
