/**
 * What `git merge-tree -z` prints, read strictly. A bad ref ends git with 1 just as a conflict does, so a result counts
 * only when it begins with the id of a tree.
 */
import { RametError } from '../../schema/errors.ts';
import { isCommitId } from '../run-git.ts';

/** One thing that git could not decide. */
export interface MergeConflict {
  /** As git names it: `contents`, `modify/delete`, `rename/rename`, `binary`, `file/directory`, ... */
  kind: string;
  paths: string[];
  message: string;
}

export type MergeResult =
  | { clean: true; tree: string }
  /** The tree holds the files with conflict markers in them. */
  | { clean: false; tree: string; conflicts: MergeConflict[]; files: string[] };

export function requireObjectId(text: string, from: string): string {
  const id = text.trim();
  if (isCommitId(id)) return id;
  throw new RametError(
    'git_failed',
    'terminal',
    `${from} printed no object id: ${JSON.stringify(text.slice(0, 100))}`,
  );
}

/** Takes one result off the tokens, which are what NUL bytes part. `clean` is what git's status said. */
export function takeResult(tokens: Iterator<string, undefined>, clean: boolean): MergeResult {
  const tree = requireObjectId(tokens.next().value ?? '', 'git merge-tree');
  const files = new Set<string>();
  for (let token = tokens.next().value; token; token = tokens.next().value) files.add(conflictedPath(token));
  const conflicts = takeMessages(tokens).filter(({ kind }) => kind !== '');
  if (clean) return { clean, tree };
  // A conflict that git describes in words only, such as one of a renamed directory, is still a conflict.
  const unexplained =
    conflicts.length > 0 ? [] : [{ kind: 'unknown', paths: [...files], message: 'git gave no reason' }];
  return { clean, tree, conflicts: [...conflicts, ...unexplained], files: [...files].sort() };
}

/** `<mode> <object> <stage>\t<path>`. */
function conflictedPath(token: string): string {
  const path = /^\d+ [0-9a-f]+ [123]\t(.+)$/s.exec(token)?.[1];
  if (path !== undefined) return path;
  throw new RametError(
    'git_failed',
    'terminal',
    `git merge-tree printed an unknown line: ${JSON.stringify(token.slice(0, 100))}`,
  );
}

/** `<count> <paths...> <type> <message>`, until the tokens end or an empty one closes the list. */
function takeMessages(tokens: Iterator<string, undefined>): MergeConflict[] {
  const found: MergeConflict[] = [];
  for (let count = tokens.next().value; count; count = tokens.next().value) {
    const paths = Array.from({ length: Number(count) }, () => tokens.next().value ?? '');
    const type = tokens.next().value ?? '';
    const message = (tokens.next().value ?? '').trim();
    found.push({ kind: /^CONFLICT \((.+)\)$/.exec(type)?.[1] ?? '', paths, message });
  }
  return found;
}

export function tokensOf(output: string): Iterator<string, undefined> {
  return output.split('\0').values();
}
