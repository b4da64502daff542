/**
 * Whether commits would be lost with a worktree. They would not when another ref leads to them, or when a branch they
 * were meant for has their content: a squash or a rebase leaves nothing to reach them by. The recorded base is what
 * they are counted from, never an upstream, which a fresh branch does not have.
 */
import { join } from 'node:path';
import { describeError } from '../../../schema/errors.ts';
import { readRef } from '../../read-refs.ts';
import { readOrNull } from '../../repository.ts';
import { gitText, isCommitId, runGit } from '../../run-git.ts';
import type { ManagedWorktree, VerdictReason } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { isOnAnotherRef } from './other-refs.ts';

export interface WorktreeTips {
  /** Where its HEAD is, and on which branch (`refs/heads/main`); null when on none. */
  head: string;
  ref: string | null;
  /** Its own branch's commit; null if the branch is gone, or it has none. */
  branch: string | null;
}

/** How many commits of a target are compared by patch. */
const MOST_PATCHES = 500;

/** What HEAD is on when it is not the worktree's own branch: another branch, or a commit's id. */
export function strayHead(
  { branch }: Pick<ManagedWorktree, 'branch'>,
  { head, ref }: Pick<WorktreeTips, 'head' | 'ref'>,
): string | null {
  if (branch === null || ref === `refs/heads/${branch}`) return null;
  return ref === null ? head : ref.replace(/^refs\/heads\//, '');
}

/** More than a log of one agent. */
const LOG_BYTES = 4 << 20;

/**
 * Where besides its own branch its agent has put commits, by the log of its HEAD: the name of a branch, the name of one that is gone
 * with the commit that it was left on (`ramet/foo 1a2b...`), or a commit that was left on no branch. Also commits that are no longer
 * on its own branch, because of a reset (`@ 1a2b...`) or because an amend or a rebase has put others in their place (`~ 1a2b...`):
 * the first count where a ref leads to them.
 */
export function otherBranches(place: WorktreePlace, worktree: ManagedWorktree): string[] {
  const { left, made, replaced, isReset } = ownLog(place, worktree);
  const { commonDirectory } = place.repository;
  const tips = new Set(left.values());
  const elsewhere = [...left].flatMap(([name, commit]) => {
    if (isCommitId(name)) return [name];
    // As a path, another name could lead out of the refs.
    if (/(?:^|\/)\.|^\//.test(name)) return [];
    return [readRef(commonDirectory, `refs/heads/${name}`) === null ? `${name} ${commit}` : name];
  });
  const dropped = isReset ? [...made].filter((id) => !tips.has(id) && !replaced.has(id)) : [];
  const gone = [...dropped.map((id) => `@ ${id}`), ...[...replaced].map((id) => `~ ${id}`)];
  return [...elsewhere, ...gone.slice(-MOST_DROPPED)];
}

/** More commits that are no longer on the branch of one agent are not looked for. */
const MOST_DROPPED = 200;

/** What the log of a HEAD says. */
export interface HeadLog {
  /** Where else than on its own branch commits were made, by the name of the branch or the commit that was left. */
  left: Map<string, string>;
  /** Commits that were made on it. */
  made: Set<string>;
  /** Those in whose place an amend or a rebase has put others. */
  replaced: Set<string>;
  /** It was moved on its branch, and that may have lost commits. */
  isReset: boolean;
}

export function ownLog(place: WorktreePlace, worktree: ManagedWorktree): HeadLog {
  const { branch, facts } = worktree;
  return headLog(join(adminDirectory(place, worktree), 'logs', 'HEAD'), branch, facts.hook?.logBytes);
}

/** `from` is where the log of its agent begins. */
export function headLog(file: string, own: string | null, from = 0): HeadLog {
  const whole = readOrNull(file, LOG_BYTES) ?? '';
  const log = from === 0 ? whole : Buffer.from(whole).subarray(from).toString();
  const found: HeadLog = { left: new Map(), made: new Set(), replaced: new Set(), isReset: false };
  let [on, tip, made] = [own ?? '', '', false];
  const leave = (from: string): void => {
    if (made && from !== own) found.left.set(from, tip);
    made = false;
  };
  for (const line of log.split('\n')) {
    const [, from, to] = /\tcheckout: moving from (\S+) to (\S+)$/.exec(line) ?? [];
    const [old = '', id = ''] = line.split(' ', 2);
    const isMove = old !== id && isCommitId(id);
    if (from !== undefined && to !== undefined) {
      // `checkout -B` is a reset.
      if (isMove && from === to) found.isReset = true;
      leave(from);
      on = to;
    } else if (isMove) {
      // A rebase works on no branch, and returns by itself; a clone begins with what others made.
      const isOwn = !/\t(?:rebase|pull .*rebase|clone:)/.test(line);
      if (isOwn) made = true;
      tip = id;
      if (/\t(?:commit \(amend\)|.*rebase.* \(start\))/.test(line)) found.replaced.add(old);
      if (/\treset: /.test(line)) found.isReset = true;
      else if (isOwn) found.made.add(id);
    }
  }
  leave(on);
  return found;
}

export async function heldCommits(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  tips: WorktreeTips,
  landed?: string,
): Promise<VerdictReason[]> {
  const known = new Set([null, worktree.base, landed]);
  const own = new Set([tips.head, tips.branch].filter((tip) => !known.has(tip)));
  const reasons: VerdictReason[] = [];
  for (const tip of own) {
    if (tip === null) continue;
    try {
      if (await isKeptElsewhere(place, worktree, tip)) continue;
      const count = await countOf(place, worktree, tip);
      const isDetached = tips.ref === null && tip === tips.head && tip !== tips.branch;
      reasons.push(
        isDetached
          ? {
              kind: 'detached',
              tip,
              count: Number(count),
              text: `${count} ${count === '1' ? 'commit' : 'commits'} without a branch, at ${tip.slice(0, 12)}`,
            }
          : {
              kind: 'commits',
              count: Number(count),
              text: `${count} ${count === '1' ? 'commit that is' : 'commits that are'} not merged, at ${tip.slice(0, 12)}`,
            },
      );
    } catch (error) {
      reasons.push({ kind: 'unknown', text: `its commits could not be judged: ${describeError(error)}` });
    }
  }
  return reasons;
}

/** What nobody else has: a merge of the target brings commits along that are there already. */
async function countOf(place: WorktreePlace, worktree: ManagedWorktree, tip: string): Promise<string> {
  const others = [worktree.base, ...(await targets(place, worktree))].filter((commit) => commit !== tip);
  return gitText(['rev-list', '--count', tip, '--not', ...others], callOf(place));
}

async function isKeptElsewhere(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  tip: string,
): Promise<boolean> {
  if (await isOnAnotherRef(place, worktree.branch, tip)) return true;
  for (const target of await targets(place, worktree)) {
    if (await hasContentOf(place, { target, tip, base: worktree.base })) return true;
  }
  return false;
}

/** Of a worktree that holds nothing: where its commits are, in one sentence; none when it has none. */
export async function whereCommitsAre(
  place: WorktreePlace,
  { base, branch, facts }: ManagedWorktree,
  head: string,
): Promise<string[]> {
  if (head === base) return [];
  const found = (await refAt(place, branch, head)) ?? (await targetWith(place, facts.target, head));
  if (found !== null) return [`its commits are on ${found.replace(/^refs\/(?:heads|remotes|tags)\//, '')}`];
  // `for-each-ref --contains` would name one, and takes seconds where there are a thousand refs.
  const isThere = await isOnAnotherRef(place, branch, head).catch(() => false);
  return [isThere ? 'its commits are on another branch or tag' : 'what it committed is merged already'];
}

/** A ref that leads to this very commit. */
async function refAt(place: WorktreePlace, branch: string | null, head: string): Promise<string | null> {
  const args = ['for-each-ref', '--format=%(refname)', `--points-at=${head}`];
  const { stdout } = await runGit([...args, 'refs/heads', 'refs/remotes', 'refs/tags'], callOf(place));
  return stdout.split('\n').find((ref) => ref !== '' && ref !== `refs/heads/${branch}`) ?? null;
}

/** The branch that the commits were meant for, when it has them. */
async function targetWith(place: WorktreePlace, target: string | null, head: string): Promise<string | null> {
  if (target === null) return null;
  const { code, stdout } = await runGit(['rev-list', '--max-count=1', head, '--not', target], callOf(place));
  return code === 0 && stdout.trim() === '' ? target : null;
}

async function targets({ repository, env }: WorktreePlace, { facts }: ManagedWorktree): Promise<string[]> {
  const names = [facts.target, 'refs/remotes/origin/HEAD', 'refs/heads/main', 'refs/heads/master'];
  const read = names.map((name) => (name === null ? null : readRef(repository.commonDirectory, name)));
  const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], { cwd: repository.root, env });
  return [...new Set([...read, head.stdout.trim()])].filter((commit) => isCommitId(commit));
}

interface Comparison {
  target: string;
  tip: string;
  base: string;
}

async function hasContentOf(place: WorktreePlace, comparison: Comparison): Promise<boolean> {
  const { target, tip, base } = comparison;
  // A target that has not moved since the worktree began has nothing of what came after.
  if (target === base) return false;
  const [tipTree, baseTree, targetTree] = await treesOf(place, [tip, base, target]);
  // Commits that undo each other add nothing to any branch, and are in none.
  if (tipTree === baseTree || tipTree === undefined || targetTree === undefined) return false;
  if (tipTree === targetTree) return true;
  const merged = await runGit(['merge-tree', '--write-tree', target, tip], callOf(place));
  if (merged.code === 0 && merged.stdout.split('\n', 1)[0] === targetTree) return true;
  return (await isRebased(place, comparison)) || (await isSquashed(place, comparison));
}

async function treesOf(place: WorktreePlace, commits: readonly string[]): Promise<string[]> {
  const names = commits.map((commit) => `${commit}^{tree}`);
  return (await gitText(['rev-parse', ...names], callOf(place))).split('\n');
}

/** Every single commit is there by its patch. */
async function isRebased(place: WorktreePlace, { target, tip, base }: Comparison): Promise<boolean> {
  const { code, stdout } = await runGit(['cherry', target, tip, base], callOf(place));
  const lines = stdout.split('\n').filter((line) => line !== '');
  return code === 0 && lines.length > 0 && lines.every((line) => line.startsWith('- '));
}

/** All of them together are one commit there, by its patch. */
async function isSquashed(place: WorktreePlace, { target, tip, base }: Comparison): Promise<boolean> {
  const call = callOf(place);
  const diff = await gitText(['diff-tree', '-p', '--full-index', base, tip], call);
  const log = [
    'log',
    '-p',
    '--full-index',
    '--no-merges',
    `--max-count=${MOST_PATCHES}`,
    `${base}..${target}`,
  ];
  const [wanted] = await patchIds(place, diff);
  return wanted !== undefined && (await patchIds(place, await gitText(log, call))).includes(wanted);
}

async function patchIds(place: WorktreePlace, input: string): Promise<string[]> {
  const text = await gitText(['patch-id', '--stable'], { ...callOf(place), input: `${input}\n` });
  return text
    .split('\n')
    .flatMap((line) => line.split(' ', 1))
    .filter((id) => id !== '');
}

function callOf({ repository, env }: WorktreePlace): { cwd: string; env: WorktreePlace['env'] } {
  return { cwd: repository.root, env };
}
