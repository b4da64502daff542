/** Moves to a directory that a script does not name: `cd $X`. */
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';
import type { UnderstoodScript } from './understand-script.ts';

interface MoveScene {
  script: string;
  /** Whether an absolute path lies where the agent may write. */
  isOwn(path: string): boolean;
}

/** The first such move as it is written; null where every directory is named, or lies where agents may write. */
export function untracedMove(
  { commands, variables }: Pick<UnderstoodScript, 'commands' | 'variables'>,
  { script, isOwn }: MoveScene,
): string | null {
  for (const { layers } of commands) {
    const { words, source } = layers.at(-1) ?? layers[0];
    const [name, ...operands] = words;
    if (!/^(?:cd|pushd)$/.test(name?.value ?? '')) continue;
    const target = operands.find(({ value }) => value === null || !/^-(?:[LP]|-)$/.test(value));
    // Without a word, and with `~`, it goes home, which is no agent's own.
    if (target === undefined ? name?.value === 'cd' : isOpen(target, variables, { script, isOwn }))
      return source;
  }
  return null;
}

/** Set for each agent, to directories of its own. */
const OWN = /^(?:PWD|TMPDIR|RAMET_WORKTREE)$/;
/** Substitutions that answer with a directory of the agent's own. */
const OWN_OUTPUT = String.raw`"?(?:\$\(|\x60)\s*(?:mktemp\s+(?:-\w*d|--directory)|pwd|git\s+rev-parse\s+--show-toplevel|dirname\s+"?\$0)`;
const VARIABLE = /^"?\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))(\/[\w./-]*)?"?$/;

function isOpen(
  { value, source, start }: ShellWord,
  variables: readonly ShellAssignment[],
  { script, isOwn }: MoveScene,
): boolean {
  if (value !== null) return false;
  const climbs = source.split('/').includes('..');
  if (!climbs && new RegExp(`^${OWN_OUTPUT}`).test(source)) return false;
  const match = VARIABLE.exec(source);
  // A pattern leads to what lies below its beginning.
  if (match === null) return climbs || /[$`~]/.test(source) || !isBelowHere(start);
  const name = match[1] ?? match[2] ?? '';
  if (new RegExp(`(?:^|[\\s;&|(])${name}=${OWN_OUTPUT}`).test(script)) return climbs;
  const given = variables.filter((variable) => variable.name === name);
  if (given.length === 0) return climbs || !OWN.test(name);
  const isFine = ({ value: to, start: from }: ShellAssignment): boolean =>
    isBelowHere(to ?? from) || (to?.startsWith('/') === true && isOwn(`${to}${match[3] ?? ''}`));
  return climbs || !given.every(isFine);
}

function isBelowHere(path: string | undefined): boolean {
  return path !== undefined && path !== '' && !/^[/~-]/.test(path) && !path.split('/').includes('..');
}
