/**
 * Names of worktrees, fit for a directory and for a branch. Whatever a person or a model wrote becomes one flat word:
 * with slashes in it, `agent` would block `agent/1`.
 */
import { createHash } from 'node:crypto';
import { UserMistake } from '../../schema/errors.ts';

/** In characters, each of up to four bytes: file names end at 255. */
const LONGEST = 56;
export const BRANCH_PREFIX = 'ramet/';

/** Throws when nothing of the name can be used. */
export function worktreeName(wanted: string): string {
  const flat = wanted
    .normalize('NFC')
    .replace(isPlain(wanted) ? /[^A-Za-z0-9._-]+/g : /[^\p{L}\p{N}\p{M}._-]+/gu, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/-{2,}/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
    .replace(/(\.lock)+$/i, '');
  if (flat === '') {
    throw new UserMistake(
      'worktree_name',
      `no worktree can be named ${JSON.stringify(wanted.slice(0, 60))}: use at least one letter or digit`,
    );
  }
  return shorten(flat);
}

/** A pattern that knows all letters takes a millisecond to compile, and few names need it. */
function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text);
}

/** The end of a long name is replaced by a digest of it: two long names that begin alike stay two. */
function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${characters
    .slice(0, LONGEST - 9)
    .join('')
    .replace(/[.-]+$/, '')}-${digest}`;
}

/** What two names must not share: some file systems do not tell letters of different case apart. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** `name`, or `name-2` and so on: the first that is not taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let number = 2; ; number++) if (!isTaken(`${name}-${number}`)) return `${name}-${number}`;
}
