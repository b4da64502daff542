/** Merges commits without a working tree, an index or a ref: the only thing written is objects. */
import { RametError } from '../../schema/errors.ts';
import {
  canMergeMany,
  type GitCall,
  type GitOutcome,
  type GitVersion,
  gitFailed,
  requireMergingGit,
  runGit,
} from '../run-git.ts';
import { type MergeResult, takeResult, tokensOf } from './merge-output.ts';

const UNRELATED = 'unrelated_histories';
const USAGE = 129;

/** Two commits by id. */
export type CommitPair = readonly [ours: string, theirs: string];

/** Throws where git could not try, as for histories that share nothing; a conflict is a value. */
export async function mergeTrees([ours, theirs]: CommitPair, call: GitCall): Promise<MergeResult> {
  const args = ['merge-tree', '--write-tree', '-z', '--messages', ours, theirs];
  const end = await runGit(args, call);
  if (end.code === 0 || (end.code === 1 && end.stdout !== ''))
    return takeResult(tokensOf(end.stdout), end.code === 0);
  // Git before 2.38 knows no such option, and before 2.19 lists its usage.
  if (end.code === USAGE) await requireMergingGit(call);
  throw refusedMerge(args, end);
}

/** All pairs, in one process where git knows how. Histories that share nothing count as a conflict here. */
export async function mergePairs(
  pairs: readonly CommitPair[],
  version: GitVersion,
  call: GitCall,
): Promise<MergeResult[]> {
  if (pairs.length === 0) return [];
  const input = pairs.map(([ours, theirs]) => `${ours} ${theirs}\n`).join('');
  const args = ['merge-tree', '--stdin', '--messages'];
  const end = canMergeMany(version) ? await runGit(args, { ...call, input }) : null;
  if (end?.code !== 0) return onePerProcess(pairs, call);
  const tokens = tokensOf(end.stdout);
  return pairs.map(() => takeResult(tokens, takeStatus(tokens)));
}

/** Git ends at the first pair that it refuses; alone, each pair has its own end. */
async function onePerProcess(pairs: readonly CommitPair[], call: GitCall): Promise<MergeResult[]> {
  const results: MergeResult[] = [];
  for (const pair of pairs) results.push(await mergeTrees(pair, call).catch(asConflict));
  return results;
}

function asConflict(error: unknown): MergeResult {
  if (!(error instanceof RametError) || error.code !== UNRELATED) throw error;
  const conflict = { kind: 'unrelated histories', paths: [], message: error.message };
  return { clean: false, tree: '', conflicts: [conflict], files: [] };
}

function takeStatus(tokens: Iterator<string, undefined>): boolean {
  const status = tokens.next().value;
  if (status === '0' || status === '1') return status === '1';
  throw new RametError(
    'git_failed',
    'terminal',
    'git merge-tree printed fewer results than it was asked for',
  );
}

function refusedMerge(args: readonly string[], end: GitOutcome): RametError {
  if (!/unrelated histories/.test(end.stderr)) return gitFailed(args, end);
  const reason = 'the histories share no commit; in a shallow clone run git fetch --unshallow first';
  return new RametError(UNRELATED, 'terminal', reason);
}
