/**
 * Where HEAD and branches are, read from files: microseconds instead of a process. Null means not known this way
 * (another storage of refs, a file half written): ask git then, never take it for absent.
 */
import { join, resolve } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { PACKED_BYTES, readOrNull, readPointer, readStart } from './repository.ts';
import { isCommitId } from './run-git.ts';

export interface HeadPosition {
  /** `refs/heads/main`; null when detached. */
  ref: string | null;
  commit: string;
}

/** The git directory of a checkout: its own, also where it is a worktree's. */
export function gitDirectoryOf(root: string): string | null {
  const text = readPointer(join(root, '.git'));
  if (text !== null) {
    const target = /^gitdir: (.+)$/m.exec(text)?.[1];
    return target === undefined ? null : resolve(root, target.trimEnd());
  }
  if (readPointer(join(root, '.git', 'HEAD')) !== null) return join(root, '.git');
  return readPointer(join(root, 'HEAD')) === null ? null : root;
}

export function readHead(gitDirectory: string, commonDirectory: string): HeadPosition | null {
  const text = readPointer(join(gitDirectory, 'HEAD'))?.trimEnd();
  if (isCommitId(text)) return { ref: null, commit: text };
  const ref = symbolicTarget(text);
  const commit = ref === null ? null : readRef(commonDirectory, ref);
  return commit === null ? null : { ref, commit };
}

/** Follows symbolic refs, as `refs/remotes/origin/HEAD` is one. */
export function readRef(commonDirectory: string, ref: string, depth = 5): string | null {
  const text = readPointer(join(commonDirectory, ref))?.trimEnd();
  if (isCommitId(text)) return text;
  const target = symbolicTarget(text);
  if (target !== null) return depth === 0 ? null : readRef(commonDirectory, target, depth - 1);
  return readPackedRef(commonDirectory, ref);
}

/** The ref of HEAD, also where it has no commit; null when detached or not known. */
export function headRef(gitDirectory: string): string | null {
  return symbolicTarget(readPointer(join(gitDirectory, 'HEAD'))?.trimEnd());
}

/** Whether its file names a commit: one that leads to another ref does not, and of a packed one this says nothing. */
export function isPlainRef(commonDirectory: string, ref: string): boolean {
  return isCommitId(readPointer(join(commonDirectory, ref))?.trimEnd());
}

/** A ref's file contains no name of a commit: reported as damage, not as absence. */
export function isDamagedRef(commonDirectory: string, ref: string): boolean {
  const text = readPointer(join(commonDirectory, ref))?.trimEnd();
  return text !== undefined && !isCommitId(text) && symbolicTarget(text) === null;
}

/** What mends one: git refuses to write a damaged ref, so its file goes first. */
export function damageAdvice(commonDirectory: string, ref: string): string {
  const log =
    readOrNull(join(commonDirectory, 'logs', ref))
      ?.trimEnd()
      .split('\n')
      .at(-1) ?? '';
  const last = log.split(' ', 2)[1];
  const mend = (commit: string): string =>
    `rm '${join(commonDirectory, ref)}'; git update-ref ${ref} ${commit}`;
  return isCommitId(last)
    ? `its log names ${last.slice(0, 12)} last, so run: ${mend(last)}`
    : `git fsck --lost-found shows commits that are lost, then run: ${mend('COMMIT')}`;
}

function readPackedRef(commonDirectory: string, ref: string): string | null {
  const packed = readOrNull(join(commonDirectory, 'packed-refs'), PACKED_BYTES);
  const end = packed?.indexOf(` ${ref}\n`) ?? -1;
  const id = packed === null || end === -1 ? null : packed.slice(packed.lastIndexOf('\n', end) + 1, end);
  return isCommitId(id) ? id : null;
}

function symbolicTarget(text: string | undefined): string | null {
  const target = text === undefined ? undefined : /^ref: (refs\/.+)$/.exec(text)?.[1];
  // Git takes no such name, and as a path it would lead out of the refs.
  return target === undefined || /\/\./.test(target) ? null : target;
}

/** Whether an object of git is a commit that is a file of its own, as what git has just written. False means not known. */
export function isLooseCommit(commonDirectory: string, id: string): boolean {
  if (!isCommitId(id)) return false;
  try {
    const bytes = readStart(join(commonDirectory, 'objects', id.slice(0, 2), id.slice(2)), 64);
    const start = inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
    return start.toString('latin1').startsWith('commit ');
  } catch {
    return false;
  }
}
