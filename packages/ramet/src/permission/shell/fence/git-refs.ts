/**
 * Git commands that move branches, or the HEAD of a checkout, that are not the worktree's own (WORK-7). All worktrees of a
 * repository share its refs. What the words of a command do not show is reported when the agent ends (WORK-9).
 */
import { branchHeldTwice, branchHolder } from '../../../git/shared-git/git-words.ts';
import type { FencedGitCall } from './fence-git.ts';
import { type GitOptions, gitOptions } from './git-options.ts';

export interface RefScene {
  /** The worktree. */
  root: string;
  /** Further words come from what xargs reads. */
  fed: boolean;
  /** The same script puts the worktree on another branch, or on none. */
  leavesBranch: boolean;
  /** Whether an address that is a path leads to this repository. */
  isHere: (path: string) => boolean;
}

/** Stands for what only the running shell knows. */
const OPEN = '\0';

const MOVES_HEAD = /^(?:commit|merge|rebase|reset|cherry-pick|revert|am|pull|update-ref)$/;

export function refRefusal(call: FencedGitCall, scene: RefScene): string | null {
  const twice = MOVES_HEAD.test(call.command) && !scene.leavesBranch ? branchHeldTwice(scene.root) : null;
  if (twice !== null)
    return `git ${call.command} would move the branch ${twice}: your worktree is on it, and so is another checkout. Run git switch -c ramet/NAME first.`;
  const texts = call.rest.map(({ value, start }) => value ?? `${start}${OPEN}`);
  const words = gitOptions(call.command, texts);
  switch (call.command) {
    case 'checkout':
    case 'switch':
      return switchRefusal(call.command, words, scene);
    case 'branch':
      return branchRefusal(words, scene);
    case 'update-ref':
      return updateRefRefusal(words, scene);
    case 'symbolic-ref':
      return symbolicRefusal(words);
    case 'fetch':
    case 'pull':
      return movedRefusal(`git ${call.command}`, words.operands.slice(1).flatMap(localEnd), scene);
    case 'push':
    case 'send-pack':
      return pushRefusal(call.command, words, scene);
    case 'rebase':
      return rebaseRefusal(words, scene);
    default:
      return wholeRefusal(call.command, words, scene);
  }
}

/** It leaves the branch that the worktree is on. */
export function isBranchStart({ command, rest }: FencedGitCall): boolean {
  if (!/^(?:checkout|switch)$/.test(command)) return false;
  const texts = rest.map(({ value, start }) => value ?? start);
  return has(gitOptions(command, texts), ...MAKES);
}

function has({ flags }: GitOptions, ...names: string[]): boolean {
  return names.some((name) => flags.has(name));
}

function branchOf(text: string): string {
  return text.replace(/^(?:refs\/)?heads\//, '');
}

/** Options of `checkout` and `switch` that leave the branch behind. */
const MAKES = ['-b', '-B', '-c', '-C', '--create', '--force-create', '--orphan', '-d', '--detach'];

function switchRefusal(command: string, words: GitOptions, scene: RefScene): string | null {
  const { root } = scene;
  if (has(words, '--ignore-other-worktrees'))
    return `git ${command} --ignore-other-worktrees would put your worktree on a branch that another checkout is on, and your commits would move it there. To start a branch from it run git switch -c ramet/NAME BRANCH; to look at it run git switch --detach BRANCH.`;
  const resets = command === 'checkout' ? ['-B', '--orphan'] : ['-C', '--force-create', '--orphan'];
  const reset = resets.flatMap((name) => words.values.get(name) ?? []);
  const moved = movedRefusal(`git ${command}`, reset, scene);
  if (moved !== null) return moved;
  const makes = has(words, ...MAKES);
  const [name = '', ...more] = words.operands;
  const namesFiles = more.length > 0 || (words.paths ?? []).length > 0 || has(words, '-p', '--patch');
  if (makes || namesFiles || branchHolder(root, branchOf(name)) !== 'others') return null;
  return `git ${command} ${name} would put your worktree on ${name}, which belongs to the user or another agent, and your commits would move it. To start a branch from it run git switch -c ramet/NAME ${name}; to look at it run git switch --detach ${name}.`;
}

function branchRefusal(words: GitOptions, scene: RefScene): string | null {
  const { operands } = words;
  const deletes = has(words, '-d', '-D', '--delete');
  if (deletes && has(words, '-r', '--remotes') && !has(words, '--no-remotes')) return null;
  const forces = has(words, '-f', '--force');
  const takes = deletes || has(words, '-m', '-M', '--move');
  const copies = has(words, '-C') || (forces && has(words, '-c', '--copy'));
  const moved = takes ? operands : copies ? operands.slice(-1) : operands.slice(0, 1);
  if (!takes && !copies && !forces) return null;
  return movedRefusal('git branch', scene.fed ? [...moved, OPEN] : moved, scene);
}

function updateRefRefusal(words: GitOptions, scene: RefScene): string | null {
  const [ref = ''] = words.operands;
  if (has(words, '--stdin') || scene.fed || ref.includes(OPEN)) return unknownBranch('git update-ref');
  if (ref.startsWith('refs/heads/')) return movedRefusal('git update-ref', [ref], scene);
  const isShared = /^(?:main-worktree|worktrees)\/|^refs\/(?:stash$|ramet\/)/.test(ref);
  return isShared ? othersRef('git update-ref', ref) : null;
}

function symbolicRefusal(words: GitOptions): string | null {
  const writes = words.operands.length > 1 || has(words, '-d', '--delete');
  if (!writes) return null;
  return 'git symbolic-ref that writes is refused in a worktree: it puts a checkout on a branch without asking who else is on it. To change your own branch run git switch -c ramet/NAME.';
}

/** What a refspec writes here: `main` of `+origin/main:main`. */
function localEnd(refspec: string): string[] {
  const end = refspec.indexOf(':') === -1 ? '' : refspec.slice(refspec.indexOf(':') + 1);
  return end === '' || /^refs\/(?!heads\/|\*)/.test(end) ? [] : [end];
}

const PATH = /^(?:\.{1,2}$|\.{0,2}\/|file:\/\/)/;

function pushRefusal(command: string, words: GitOptions, scene: RefScene): string | null {
  const [to = '', ...refspecs] = words.operands;
  if (!PATH.test(to) || !scene.isHere(to.replace(/^file:\/\//, ''))) return null;
  if (has(words, '--mirror', '--all', '--branches', '--stdin')) return unknownBranch(`git ${command}`);
  const ends = refspecs.map((refspec) => refspec.slice(refspec.indexOf(':') + 1).replace(/^\+/, ''));
  return movedRefusal(`git ${command}`, ends, scene);
}

function rebaseRefusal(words: GitOptions, { root }: RefScene): string | null {
  if (has(words, '--update-refs'))
    return 'git rebase --update-refs also moves branches of the user and of other agents. Leave that option out.';
  const branch = words.operands[has(words, '--root') ? 0 : 1];
  return branch !== undefined && branchHolder(root, branchOf(branch)) === 'others'
    ? othersBranch('git rebase', branch)
    : null;
}

const REWRITES = /^(?:fast-import|filter-branch|filter-repo|replay)$/;

function wholeRefusal(command: string, words: GitOptions, scene: RefScene): string | null {
  if (REWRITES.test(command) || (command === 'refs' && words.operands[0] === 'migrate'))
    return `git ${command} is refused in a worktree: it rewrites branches that your worktree shares with the user's checkout. Change your own branch with git commit, git rebase or git cherry-pick.`;
  if (command === 'prune' ? !has(words, '-n', '--dry-run') : command === 'gc' && has(words, '--prune'))
    return `git ${command} would delete objects that the user or another agent may still need. Leave it to the user.`;
  if (command !== 'reflog' || !/^(?:expire|delete|drop)$/.test(words.operands[0] ?? '')) return null;
  return has(words, '-n', '--dry-run') ? null : reflogRefusal(words, scene);
}

/** What only a log leads to is lost with its entry: each stash but the newest is. */
function reflogRefusal(words: GitOptions, { root }: RefScene): string | null {
  if (has(words, '--all')) return othersRef('git reflog', 'the log of every ref');
  for (const given of [...words.operands.slice(1), ...(words.paths ?? [])]) {
    if (given.includes(OPEN)) return unknownBranch('git reflog');
    const name = given.replace(/@\{.*$/, '');
    if (name !== '' && name !== 'HEAD' && branchHolder(root, branchOf(name)) !== 'own')
      return othersRef('git reflog', `the log of ${name}`);
  }
  return null;
}

function movedRefusal(what: string, names: readonly string[], { root }: RefScene): string | null {
  for (const name of names) {
    if (/[\0*]/.test(name)) return unknownBranch(what);
    if (/^(?:others|unknown)$/.test(branchHolder(root, branchOf(name))) && name !== 'HEAD')
      return othersBranch(what, name);
  }
  return null;
}

function othersBranch(what: string, name: string): string {
  return `${what} would change the branch ${branchOf(name)}, which belongs to the user or another agent. Commit on your own branch; to start another from it run git switch -c ramet/NAME ${branchOf(name)}.`;
}

function othersRef(what: string, ref: string): string {
  return `${what} would change ${ref}, which your worktree shares with the user's checkout and other worktrees. Leave it as it is, and commit on your own branch.`;
}

function unknownBranch(what: string): string {
  return `${what}: which branches it changes is known only when it runs, and they may be the user's. Name a branch of your own in the command.`;
}
