/** Moves to a directory that a script does not name: `cd $X`. */
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';
import type { UnderstoodScript } from './understand-script.ts';

/** The first such move as it is written; null where every directory is named, or lies where agents may write. */
export function untracedMove(
  { commands, variables }: Pick<UnderstoodScript, 'commands' | 'variables'>,
  script: string,
): string | null {
  for (const { layers } of commands) {
    const { words, source } = layers.at(-1) ?? layers[0];
    const [name, ...operands] = words;
    if (!/^(?:cd|pushd)$/.test(name?.value ?? '')) continue;
    const target = operands.find(({ value }) => value === null || !/^-(?:[LP]|-)$/.test(value));
    // Without a word, and with `~`, it goes home, which is no agent's own.
    if (target === undefined ? name?.value === 'cd' : isOpen(target, variables, script)) return source;
  }
  return null;
}

const OWN = /^"?(?:\$PWD|\$\{PWD\}|\$TMPDIR|\$\{TMPDIR\})(?:\/[\w./-]*)?"?$/;
/** Substitutions that answer with a directory of the agent's own. */
const OWN_OUTPUT = String.raw`"?(?:\$\(|\x60)\s*(?:mktemp\s+(?:-\w*d|--directory)|pwd|git\s+rev-parse\s+--show-toplevel|dirname\s+"?\$0)`;
const VARIABLE = /^"?\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))(\/[\w./-]*)?"?$/;

function isOpen(
  { value, source, start }: ShellWord,
  variables: readonly ShellAssignment[],
  script: string,
): boolean {
  if (value !== null) return false;
  const climbs = source.split('/').includes('..');
  if (!climbs && (OWN.test(source) || new RegExp(`^${OWN_OUTPUT}`).test(source))) return false;
  const match = VARIABLE.exec(source);
  // A pattern leads to what lies below its beginning.
  if (match === null) return climbs || /[$`~]/.test(source) || !isBelowHere(start);
  const name = match[1] ?? match[2] ?? '';
  if (new RegExp(`(?:^|[\\s;&|(])${name}=${OWN_OUTPUT}`).test(script)) return climbs;
  const given = variables.filter((variable) => variable.name === name);
  return climbs || given.length === 0 || !given.every((each) => isBelowHere(each.value ?? each.start));
}

function isBelowHere(path: string | undefined): boolean {
  return path !== undefined && path !== '' && !/^[/~-]/.test(path) && !path.split('/').includes('..');
}
