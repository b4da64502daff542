/** What git would do outside an agent's worktree: by `-C`, by variables, by names of files that it writes. */

import type { ShellAssignment } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import type { CommandView } from './command-views.ts';
import { valuesOf } from './written-names.ts';

/** What may be asked of the repository from another checkout: it does not even refresh that one's index. */
const LOOKS =
  /^(?:log|show|rev-parse|rev-list|cat-file|ls-tree|ls-files|ls-remote|blame|merge-base|describe|shortlog|for-each-ref|)$/;
const VALUED = /^(?:-c|--namespace|--exec-path|--config-env|--super-prefix|--attr-source)$/;
const ELSEWHERE = /^--(?:git-dir|work-tree)(?:=|$)/;
const STEERS = /^GIT_(?:WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR)$/;

export interface FencedGitCall {
  command: string;
  /** The word in its place, where only the running shell knows which command it is. */
  unnamed: ShellWord | null;
  rest: readonly ShellWord[];
  /** Of `-C`: each begins where the one before ended. */
  moves: ShellWord[];
  gitDirs: ShellWord[];
  workTrees: ShellWord[];
  looks: boolean;
  /** Of `-c`. */
  settings: ShellWord[];
}

export function gitCall({ words }: CommandView): FencedGitCall {
  const sent: Record<'moves' | 'gitDirs' | 'workTrees' | 'settings', ShellWord[]> = {
    ...{ moves: [], gitDirs: [], workTrees: [], settings: [] },
  };
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    const value = word?.value ?? word?.start ?? '';
    if (value === '-C' || ELSEWHERE.test(value)) {
      if (value === '-C' || !value.includes('=')) at++;
      const to = value.includes('=') ? valuesOf(words.slice(at, at + 1), ELSEWHERE_NAME)[0] : words[at];
      const kind = value === '-C' ? 'moves' : value.startsWith('--git-dir') ? 'gitDirs' : 'workTrees';
      if (to !== undefined) sent[kind].push(to);
    } else if (VALUED.test(value)) {
      const given = words[++at];
      if (value === '-c' && given !== undefined) sent.settings.push(given);
    } else if (!value.startsWith('-')) break;
  }
  const word = words[at];
  const command = word?.value ?? '';
  const unnamed = word === undefined || word.value !== null ? null : word;
  return { command, unnamed, rest: words.slice(at + 1), ...sent, looks: LOOKS.test(command) };
}

const ELSEWHERE_NAME = /^--(?:git-dir|work-tree)$/;

/** What variables that send git elsewhere hold. */
export function steering(assignments: readonly ShellAssignment[]): Record<'gitDirs' | 'others', ShellWord[]> {
  const held = (names: RegExp): ShellWord[] =>
    assignments.flatMap(({ name, value, source = '' }) =>
      names.test(name) && (value !== null || source !== '') ? { source, value, start: value ?? '' } : [],
    );
  return { gitDirs: held(/^GIT_DIR$/), others: held(STEERS) };
}

/** Names of files and folders that the call writes. */
export function gitWrites({ command, rest }: FencedGitCall): ShellWord[] {
  const names = rest.filter(
    ({ value, start }, index) =>
      !(value ?? start).startsWith('-') &&
      !/^(?:-[bcju]|--(?:branch|depth|reference|template|origin|jobs))$/.test(rest[index - 1]?.value ?? ''),
  );
  const output = valuesOf(rest, /^(?:--output|--output-directory|--separate-git-dir)$/);
  const index = command === 'read-tree' ? valuesOf(rest, /^--i[a-z-]*$/) : [];
  const letter = /^(?:archive|format-patch)$/.test(command) ? valuesOf(rest, /^-o$/) : [];
  const own =
    command === 'init'
      ? names.slice(-1)
      : command === 'clone'
        ? names.slice(1, 2)
        : command === 'bundle' && names[0]?.value === 'create'
          ? names.slice(1, 2)
          : [];
  return [...own, ...output, ...index, ...letter];
}

const REACHES = /^(?:push|fetch|pull|remote)$/;
const REMOTE =
  /^(?:remote\..*\.(?:url|pushurl|fetch|push|mirror)|url\..*\.(?:insteadof|pushinsteadof))(?:=|$)/i;

export function sharedRefusal({ command, rest, settings, unnamed }: FencedGitCall): string | null {
  if (unnamed !== null)
    return `Which git command "git ${unnamed.source}" runs is known only when it runs, and some would change the user's branches or configuration. Write the subcommand out.`;
  if (settings.some(({ value, start }) => /^alias\./i.test(value ?? start)))
    return 'git -c alias.NAME=... is refused in a worktree: it hides which git command runs. Write that command out.';
  if (REACHES.test(command) && settings.some(({ value, start }) => REMOTE.test(value ?? start)))
    return `git -c remote.NAME... ${command} is refused in a worktree: it hides which repository and branches are changed. Give git ${command} the address and the branches themselves.`;
  const first = rest[0]?.value ?? '';
  if (command === 'stash' && first !== 'list' && first !== 'show') {
    return 'git stash is refused in a worktree: all worktrees of a repository share one stash, and others would find or lose your work. Commit on your branch instead; everything you have is also kept after each turn.';
  }
  if (command === 'worktree' && first !== 'list') {
    return 'git worktree is refused here: Ramet makes and removes worktrees. Work in the one you have.';
  }
  return null;
}
