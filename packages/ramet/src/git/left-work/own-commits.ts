/**
 * Whether commits are an agent's own, and which line of them has all that it did. What is not whole is never taken in part: the
 * objection names both lines.
 */
import { RametError } from '../../schema/errors.ts';
import { shellWord } from '../merge/merge-advice.ts';
import { isAncestor } from '../merge/merge-repository.ts';
import { mergeTrees } from '../merge/merge-trees.ts';
import { type GitCall, gitText, runGit } from '../run-git.ts';

/** Why work does not count: a stable word, and a line for people. */
export interface WorkObjection {
  readonly cause: string;
  readonly message: string;
  /** Another attempt would not help. */
  readonly final?: boolean;
  /** What a person can do, with the commands. */
  readonly person?: string;
  /** What holds the work nevertheless. */
  readonly branch?: string | null;
}

export interface WorkReading {
  /** The commit that it began with. */
  base: string;
  /** The branch that results land on. */
  target: string;
  /** Tags and other refs that the agent has made itself. */
  mine?: readonly string[];
  call: GitCall;
}

/** Commits of an agent that are elsewhere than its work was expected. */
export interface LeftCommit {
  commit: string;
  /** The ref that it was left on, in short, or `no branch`. */
  where: string;
  /** Its branch is gone, and no other leads to it. */
  isDeleted: boolean;
  /** Why it may not be taken; null if it may. */
  objection: WorkObjection | null;
}

export interface WholeWork {
  /** To be taken instead: it has everything. */
  taken: LeftCommit | null;
  /** Why no line has all of it, and the line that speaks against it. */
  objection: WorkObjection | null;
  against: LeftCommit | null;
  /** For people: what was not taken because its agent deleted it. */
  notes: readonly string[];
}

/** `own`: the commit that is expected to have its work. `isClean`: nothing but that commit has what its files have. */
export async function wholeWork(
  { own, name, isClean, kept }: { own: string; name: string | null; isClean: boolean; kept: string },
  left: readonly LeftCommit[],
  call: GitCall,
): Promise<WholeWork> {
  const notes: string[] = [];
  let taken: LeftCommit | null = null;
  for (const one of left) {
    const known = taken?.commit ?? own;
    const { commit, where, objection } = one;
    if (objection === null && (await isAncestor(commit, known, call))) continue;
    if (objection === null && (await hasChangesOf(known, commit, call))) continue;
    if (one.isDeleted) notes.push(deletedNote(one));
    else if (objection === null && isClean && (await isAncestor(known, commit, call))) taken = one;
    else {
      const from = name === null ? '' : ` on ${name}`;
      const lines = [`${known.slice(0, 12)}${from}`, `${commit.slice(0, 12)} on ${where}`] as const;
      return { taken: null, objection: objection ?? diverged(...lines, kept), against: one, notes };
    }
  }
  return { taken, objection: null, against: null, notes };
}

export function deletedNote({ where, commit }: Pick<LeftCommit, 'where' | 'commit'>): string {
  return `it deleted ${where} with commit ${commit}, which was not taken`;
}

/** By a squash or a pick, too. */
export async function hasChangesOf(own: string, other: string, call: GitCall): Promise<boolean> {
  try {
    const merged = await mergeTrees([own, other], call);
    return merged.clean && merged.tree === (await gitText(['rev-parse', `${own}^{tree}`], call));
  } catch (error) {
    // Histories that share nothing.
    if (error instanceof RametError) return false;
    throw error;
  }
}

export function diverged(one: string, other: string, kept: string): WorkObjection {
  return {
    cause: 'diverged_work',
    message: `its work is in two lines of commits, and neither has all of it: ${one}, and ${other}; ${kept}`,
  };
}

/** Why the commits that HEAD was on cannot be taken; null if they can, or were only looked at. */
export async function strayObjection(
  { commit, where }: { commit: string; where: string | null },
  { base, target, mine, call }: WorkReading,
): Promise<WorkObjection | null> {
  if (await isAncestor(commit, `refs/heads/${target}`, call)) return null;
  const led = await notItsOwn(commit, { base, ...(mine !== undefined && { mine }), call });
  if (led === null || (await isAncestor(commit, base, call))) return null;
  const isBranch = where !== null && where !== commit;
  const named = isBranch ? `${commit} (${where})` : commit;
  const name = shellWord(isBranch ? where : commit);
  const way = `look at it with git log ${base.slice(0, 12)}..${name}, and take it with ramet merge ${name} --into ${shellWord(target)}`;
  return {
    cause: 'other_commits',
    message: `${led}, so its work was not taken: it is commit ${named}; ${way}`,
  };
}

/** Commits of the user that are on no branch of the run would land with it. */
export async function notItsOwn(
  tip: string,
  { base, mine = [], call }: Pick<WorkReading, 'base' | 'mine' | 'call'>,
): Promise<string | null> {
  const ancestor = await runGit(['merge-base', '--is-ancestor', base, tip], call);
  if (ancestor.code !== 0) return 'HEAD of its checkout was not on top of the commit that it began with';
  const count = async (...but: string[]): Promise<string> =>
    (await runGit(['rev-list', '--count', tip, '--not', base, ...but, '--'], call)).stdout;
  // `--exclude` holds for the next option alone, and takes the name as that one sees it.
  const but = (top: string): string[] =>
    mine.filter((ref) => ref.startsWith(top)).map((ref) => `--exclude=${ref.slice(top.length)}`);
  const tags = [...but('refs/tags/'), '--tags'];
  const remotes = [...but('refs/remotes/'), '--remotes'];
  const known = ['--exclude=ramet/*', '--branches', ...tags, ...remotes, '--glob=refs/stash'];
  return (await count()) === (await count(...known))
    ? null
    : 'HEAD of its checkout had commits of other branches';
}

export async function tipOf(branch: string | null, call: GitCall): Promise<string | null> {
  if (branch === null) return null;
  const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
  const { code, stdout } = await runGit(args, call);
  return code === 0 ? stdout.trim() : null;
}

/** As people and git name it. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(?:heads\/)?/, '');
}

/** Where the work of an agent was found. What its agent made there is not Ramet's to remove, so people are told how. */
export function takenNote(where: string, branch: string | null): string {
  return `its work is on ${where}, not ${branch}, and was taken from there${removalNote(where)}`;
}

/** `where` is as `shortRef` says. */
export function removalNote(where: string): string {
  if (where === 'no branch' || where.startsWith('commit ')) return '';
  const [, kind, name = where] = /^(tags|remotes)\/(.+)/.exec(where) ?? [];
  const other = kind === 'tags' ? 'git tag -d' : 'git branch -D';
  const remove =
    kind === 'remotes' ? `git update-ref -d ${shellWord(`refs/${where}`)}` : `${other} ${shellWord(name)}`;
  return `; it stays: once the target has the work, ${remove} removes it`;
}
