/**
 * Which agent wrote the lines of a file that are not committed: its recorded versions one after the other, each
 * compared with the one before. What changed between two recorded versions, or after the last, is nobody's that we know
 * of.
 */
import type { FileContents } from '../../git/shapes.ts';
import { lineDiff } from '../../system/text/line-diff.ts';
import type { AttributedChange } from './file-changes.ts';

/** By line, from the first; null where it is not known. */
export function lineOwners(
  now: string,
  changes: readonly AttributedChange[],
  contents: FileContents,
): (AttributedChange | null)[] {
  let text = '';
  let owners: (AttributedChange | null)[] = [];
  // A line that is restored, as by ramet undo, belongs to its earlier owner again.
  const known = new Map<string, (AttributedChange | null)[]>();
  const become = (next: string, owner: AttributedChange | null): void => {
    const earlier = owner === null ? known.get(next) : undefined;
    known.set(text, owners);
    if (earlier !== undefined) {
      [owners, text] = [earlier, next];
      return;
    }
    const left = owners.values();
    owners = lineDiff(text, next).flatMap(({ kind }) => {
      const kept = kind === 'added' ? owner : (left.next().value ?? null);
      return kind === 'removed' ? [] : [kept];
    });
    text = next;
  };
  for (const change of changes) {
    const before = textOf(change.before, change, contents);
    const after = textOf(change.after, change, contents);
    if (before === null || after === null) continue;
    become(before, null);
    become(after, change);
  }
  become(now, null);
  return owners;
}

function textOf(version: string | null, { path }: AttributedChange, contents: FileContents): string | null {
  if (version === null) return '';
  const bytes = contents.read(version, path);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}
