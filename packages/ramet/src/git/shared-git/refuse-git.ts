/**
 * Git commands that throw away, move or hide what others have in the checkout. Refused while a second agent lives there,
 * whoever's the files are; what depends on the files is `guard-paths.ts`'s. Looks at words alone, so that permission can
 * say it before anything runs.
 */
import { commandWords, type GitWords } from './git-words.ts';

const OWN_WAY =
  'Change files with Edit and Write, and commit your own with git add PATH and git commit. To work on a branch of your own, ask for a worktree.';

/** Why the command may not run beside other agents; null when words alone say nothing against it. */
export function refusedBesideOthers({ command, rest }: GitWords): string | null {
  const what = harmOf(command, rest);
  return what === null ? null : `git ${command} ${what}`;
}

export function refusalText(harm: string, others: readonly string[]): string {
  const who =
    others.length === 1 ? `agent ${others[0]} works` : `agents ${others.slice(0, 5).join(', ')} work`;
  return `refused while ${who} in this checkout too: ${harm}. ${OWN_WAY}`;
}

function harmOf(command: string, rest: readonly string[]): string | null {
  const { flags, operands, paths } = commandWords(rest, []);
  const has = (...names: string[]): boolean => names.some((name) => flags.has(name));
  switch (command) {
    case 'stash':
      return ['list', 'show', 'create'].includes(operands[0] ?? '')
        ? null
        : 'takes away what others have changed';
    case 'reset':
      return has('--hard', '--merge', '--keep') ? 'throws away what others have changed' : null;
    case 'clean':
      return has('-n', '--dry-run') && !has('-f') ? null : 'deletes files that others have made';
    case 'switch':
      return 'changes the branch under the others';
    case 'checkout':
      return paths === null && has('-b', '-B', '--orphan', '--detach', '-d', '-t', '--track')
        ? 'changes the branch under the others'
        : null;
    case 'rebase':
    case 'bisect':
    case 'am':
      return 'rewrites the files and the branch under the others';
    case 'pull':
    case 'merge':
      return has('--rebase', '-r', '--autostash')
        ? 'rewrites the files and the branch under the others'
        : null;
    case 'read-tree':
      return has('-u', '--reset') ? 'throws away what others have changed' : null;
    case 'checkout-index':
      return has('-f', '--force') ? 'throws away what others have changed' : null;
    case 'sparse-checkout':
      return operands[0] === 'list' ? null : 'takes away files that others use';
    default:
      return null;
  }
}
