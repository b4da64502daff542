export { branchHeldTwice, branchHolder } from '../branch-holders.ts';

const OWN_WAY =
  'Change files with Edit and Write, and commit your own with git add PATH and git commit. To work on a branch of your own, ask for a worktree.';

/** A git command line, taken apart as far as it must be understood. */
export interface GitWords {
  /** Options before the command, such as `-C` and `-c`. */
  globals: readonly string[];
  /** Empty without one. */
  command: string;
  /** What follows it. */
  rest: readonly string[];
}

const GLOBALS_WITH_VALUE: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
]);

export function gitWords(words: readonly string[]): GitWords {
  let index = 0;
  while (index < words.length && words[index]?.startsWith('-') === true)
    index += GLOBALS_WITH_VALUE.has(words[index] ?? '') ? 2 : 1;
  return {
    globals: words.slice(0, index),
    command: words[index] ?? '',
    rest: words.slice(index + 1),
  };
}

export interface CommandWords {
  /** Options as they were given, with their values. */
  options: string[];
  /** Names of all options: `-a` and `-m` of `-am text`, `--message` of `--message=text`. */
  flags: ReadonlySet<string>;
  /** What is no option, before `--`. */
  operands: string[];
  /** What stands after `--`; null without one. */
  paths: string[] | null;
}

/** `valued` are options that take a value, the short ones by their letter: `m`, `--message`. */
export function commandWords(rest: readonly string[], valued: readonly string[]): CommandWords {
  const takes = new Set(valued);
  const words: CommandWords & { flags: Set<string> } = {
    options: [],
    flags: new Set(),
    operands: [],
    paths: null,
  };
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? '';
    if (word === '--') {
      words.paths = rest.slice(index + 1);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      words.operands.push(word);
      continue;
    }
    words.options.push(word);
    if (readOption(word, takes, words.flags) && index + 1 < rest.length)
      words.options.push(rest[++index] ?? '');
  }
  return words;
}

/** True when its value is the next word. */
function readOption(word: string, takes: ReadonlySet<string>, flags: Set<string>): boolean {
  if (word.startsWith('--')) {
    const [name = word] = word.split('=', 1);
    flags.add(name);
    return !word.includes('=') && takes.has(name);
  }
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    flags.add(`-${letter}`);
    if (takes.has(letter)) return at === word.length - 1;
    // A value may be joined to these, and is no further letter.
    if (letter === 'S' || letter === 'u') return false;
  }
  return false;
}

/**
 * Git commands that throw away, move or hide what others have in the checkout. Refused while a second agent lives
 * there, also for one's own files; `guard-paths.ts` judges by files. Reads words alone, so that permission can say it
 * before anything runs.
 *
 * Why the command may not run beside other agents; null when words alone say nothing against it.
 */
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
        : 'removes what others have changed';
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
      return operands[0] === 'list' ? null : 'removes files that others use';
    default:
      return null;
  }
}
