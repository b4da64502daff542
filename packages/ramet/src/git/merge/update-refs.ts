/** Changes several refs as one act. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { RametError, UserMistake } from '../../schema/errors.ts';
import { removeOwnerlessLock } from '../left-locks.ts';
import { gitFailed, runGit } from '../run-git.ts';
import { callToTheEnd, type MergeRepository } from './merge-repository.ts';
import { removeDeadLocks, withNotedLocks } from './noted-locks.ts';

const LOCKED = /Unable to create '(.+?)\.lock': File exists/;
/** A git that lives holds a lock for a moment. */
const STALE_MS = 10_000;

/** All or none; true when one of them had another value than expected, or another process is changing it. */
export async function updateRefs(
  lines: readonly string[],
  { reason }: { reason: string },
  repository: MergeRepository,
): Promise<boolean> {
  if (lines.length === 0) return false;
  const { commonDirectory } = repository;
  const input = ['start\n', ...lines.map(notThrough), 'prepare\n', 'commit\n'].join('');
  const args = ['update-ref', '-m', `ramet merge: ${reason}`.slice(0, 200), '--stdin'];
  const refs = lines.map((line) => line.trim().split(' ')[1] ?? '');
  const run = (): ReturnType<typeof runGit> =>
    withNotedLocks(commonDirectory, [...refs, 'packed-refs', 'HEAD'], () =>
      runGit(args, { ...callToTheEnd(repository), input }),
    );
  let end = await run().catch((error: unknown) => {
    // What of it has happened shows: a ref that has its new value already is not what is expected.
    if (error instanceof RametError && error.code === 'git_killed') return run();
    throw error;
  });
  if (end.code !== 0 && LOCKED.test(end.stderr) && (await removeDeadLocks(commonDirectory)))
    end = await run();
  // Nobody could delete a ref any more, and every task would fail.
  const packed = join(commonDirectory, 'packed-refs');
  if (LOCKED.exec(end.stderr)?.[1] === packed && (await removeOwnerlessLock(`${packed}.lock`)))
    end = await run();
  if (end.code === 0) return false;
  refuseStale(LOCKED.exec(end.stderr)?.[1]);
  if (/but expected|cannot lock ref|already exists|unable to resolve/i.test(end.stderr)) return true;
  throw gitFailed(args, end);
}

/** A branch of the user may lead to another one. A ref of ours never does, unless an agent has made it so. */
function notThrough(line: string): string {
  return /^\w+ refs\/ramet\//.test(line) ? `option no-deref\n${line}` : line;
}

function refuseStale(locked: string | undefined): void {
  const stats = locked === undefined ? undefined : statSync(`${locked}.lock`, { throwIfNoEntry: false });
  if (stats === undefined || Date.now() - stats.mtimeMs < STALE_MS) return;
  throw new UserMistake(
    'ref_locked',
    `${locked}.lock is in the way: a git that was killed has left it; when no git is at work here, remove it with rm ${JSON.stringify(`${locked}.lock`)}, then try again`,
  );
}
