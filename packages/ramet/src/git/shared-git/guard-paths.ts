/** Commands that overwrite or unstage paths: fine on what only this agent has changed, refused on anything else. */
import { commandWords } from './git-words.ts';
import { type PathChoice, takePaths } from './take-paths.ts';

/** Why the command may not run; null when it may. */
export function pathRefusal(choice: PathChoice, command: string, rest: readonly string[]): string | null {
  switch (command) {
    case 'checkout':
      return checkoutRefusal(choice, rest);
    case 'restore':
      return restoreRefusal(choice, rest);
    case 'reset':
      return resetRefusal(choice, rest);
    case 'rm':
    case 'mv':
      return removalRefusal(choice, rest);
    default:
      return null;
  }
}

function checkoutRefusal(choice: PathChoice, rest: readonly string[]): string | null {
  const { view } = choice;
  const { operands, paths } = commandWords(rest, ['--conflict', '--pathspec-from-file']);
  const [first] = operands;
  const isCommit = first !== undefined && view.isCommit(first);
  const named = [...(isCommit ? operands.slice(1) : operands), ...(paths ?? [])];
  if (named.length === 0) return isCommit ? 'it changes the branch under the others' : null;
  return overwritten(choice, isCommit ? (first ?? null) : null, named);
}

function restoreRefusal(choice: PathChoice, rest: readonly string[]): string | null {
  const { options, flags, operands, paths } = commandWords(rest, ['s', '--source', '--pathspec-from-file']);
  const named = [...operands, ...(paths ?? [])];
  const staged = flags.has('-S') || flags.has('--staged');
  const onDisk = !staged || flags.has('-W') || flags.has('--worktree');
  const at = options.findIndex((word) => word === '-s' || word === '--source');
  const joined = options.find((word) => word.startsWith('--source='))?.slice('--source='.length);
  const source = joined ?? (at === -1 ? null : (options[at + 1] ?? null));
  return (onDisk ? overwritten(choice, source, named) : null) ?? (staged ? unstaged(choice, named) : null);
}

function resetRefusal(choice: PathChoice, rest: readonly string[]): string | null {
  const { view } = choice;
  const { operands, paths } = commandWords(rest, ['--pathspec-from-file']);
  const [first] = operands;
  const isCommit = first !== undefined && view.isCommit(first);
  const named = [...(isCommit ? operands.slice(1) : operands), ...(paths ?? [])];
  if (named.length === 0 && isCommit && !isHead(choice, first)) return 'it moves the branch under the others';
  return unstaged(choice, named);
}

function isHead({ view }: PathChoice, name: string): boolean {
  return view.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]).stdout.trim() === view.head;
}

/** Of the paths that would be written over, those that are not the agent's alone. */
function overwritten(
  { view, claims }: PathChoice,
  source: string | null,
  named: readonly string[],
): string | null {
  const foreign = view.differing(source, named).filter((path) => !claims.isOnlyOwn(view.absolute(path)));
  return foreign.length === 0
    ? null
    : `it throws away changes that are not known to be yours alone: ${list(foreign)}`;
}

function unstaged({ view, claims }: PathChoice, named: readonly string[]): string | null {
  const staged = [...view.staged(named)];
  const foreign = staged
    .filter(([path, entry]) => !claims.hasStaged(view.absolute(path), entry))
    .map(([path]) => path);
  return foreign.length === 0 ? null : `it takes out of the index what others put there: ${list(foreign)}`;
}

function removalRefusal(choice: PathChoice, rest: readonly string[]): string | null {
  const { operands, paths } = commandWords(rest, ['--pathspec-from-file']);
  const named = [...operands, ...(paths ?? [])];
  const { left, refused } = takePaths(choice, choice.view.dirty(named, 'no'), named);
  const foreign = [...left.filter((line) => line.includes('changed by agent')), ...refused];
  return foreign.length === 0 ? null : `it removes what others have changed: ${list(foreign)}`;
}

function list(paths: readonly string[]): string {
  const rest = paths.length - 5;
  return `${paths.slice(0, 5).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
