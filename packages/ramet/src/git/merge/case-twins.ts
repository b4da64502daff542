/** Names that differ in case only are two files to git and one to some disks: where this is such a disk, a conflict. */
import { join } from 'node:path';
import { readOrNull } from '../repository.ts';
import { gitText } from '../run-git.ts';
import type { MergeConflict } from './merge-output.ts';
import { callIn, type MergeRepository } from './merge-repository.ts';

/** Only what `after` adds to `before` is looked at, and only where the repository says its disk ignores case. */
export async function findCaseTwins(
  before: string,
  after: string,
  repository: MergeRepository,
): Promise<MergeConflict[]> {
  if (!ignoresCase(repository)) return [];
  const call = callIn(repository);
  const added = namesIn(
    await gitText(['diff-tree', '-r', '-z', '--name-only', '--diff-filter=A', before, after], call),
  );
  if (added.length === 0) return [];
  const byCase = Map.groupBy(
    namesIn(await gitText(['ls-tree', '-r', '-z', '--name-only', after], call)),
    folded,
  );
  return [...new Set(added.map(folded))].flatMap((name) => {
    const paths = byCase.get(name) ?? [];
    return paths.length < 2
      ? []
      : [{ kind: 'case', paths, message: `${paths.join(' and ')} are one file on this disk` }];
  });
}

function ignoresCase({ commonDirectory }: MergeRepository): boolean {
  return /^\s*ignorecase\s*=\s*true/im.test(readOrNull(join(commonDirectory, 'config')) ?? '');
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

function namesIn(output: string): string[] {
  return output.split('\0').filter((name) => name !== '');
}
