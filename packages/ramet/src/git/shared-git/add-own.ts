/** `git add` beside other agents: the index takes the agent's own changes, and is noted to have them from it. */
import { commandWords } from './git-words.ts';
import { forcedPaths, leftOut, type PathChoice, stagePaths, takePaths } from './take-paths.ts';

const VALUED = ['--chmod', '--pathspec-from-file'];
/** These ask, or change no content: git does them as they are. */
const AS_IS = [
  '-p',
  '--patch',
  '-i',
  '--interactive',
  '-e',
  '--edit',
  '-n',
  '--dry-run',
  '--refresh',
  '--pathspec-from-file',
];

export function addOwn(choice: PathChoice, rest: readonly string[], tell: (line: string) => void): number {
  const { view, directory } = choice;
  const { flags, operands, paths } = commandWords(rest, VALUED);
  if (AS_IS.some((flag) => flags.has(flag))) return view.run(['add', ...rest]);
  const pathspecs = [...operands, ...(paths ?? [])];
  const tracked = flags.has('-u') || flags.has('--update');
  const all = tracked || flags.has('-A') || flags.has('--all') || flags.has('--no-ignore-removal');
  if (pathspecs.length === 0 && !all) return view.run(['add', ...rest]);
  const force = flags.has('-f') || flags.has('--force');
  const dirty = new Set(view.dirty(pathspecs, tracked ? 'no' : 'all'));
  if (force) for (const path of forcedPaths(pathspecs, directory, view.root)) dirty.add(path);
  // Nothing to add, or nothing that matches: git knows what to say.
  if (dirty.size === 0) return view.run(['add', ...rest]);
  const { taken, left, refused } = takePaths(choice, [...dirty], pathspecs);
  if (refused.length > 0) {
    tell(`ramet: not added: ${refused.join(', ')}. Nothing was added; they commit it themselves.`);
    return 1;
  }
  const complaint = stagePaths(choice, taken, force ? ['-f'] : []);
  if (complaint !== null) {
    tell(complaint);
    return 128;
  }
  const note = leftOut(left);
  if (note !== null) tell(note);
  return 0;
}
