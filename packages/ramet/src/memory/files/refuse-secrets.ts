/** What a change may not add to memory: secrets, in a text or in the name of a file. */
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { lineDiff, numberedLines } from '../../system/text/line-diff.ts';
import type { ChangedFile } from './memory-history.ts';

type SecretGuard = Pick<
  typeof import('../secrets/secret-guard.ts'),
  'secretInKey' | 'secretsIn' | 'secretsText'
>;

/** Throws a mistake. What a person has put there before is theirs. */
export function refuseSecrets(
  { secretInKey, secretsIn, secretsText }: SecretGuard,
  root: string,
  { path, before, after }: ChangedFile,
): void {
  if (after === null) return;
  const rule = before === null ? secretInKey(path) : null;
  if (rule !== null)
    throw new UserMistake(
      'memory_secret',
      `not saved: the name of the file looks like a secret (${rule}); memory keeps none`,
    );
  const isNew = newLines(before ?? '', after);
  const found = secretsIn(after).filter(({ line }) => isNew(line));
  if (found.length === 0) return;
  throw new UserMistake(
    'memory_secret',
    `not saved to ${join(root, path)}: it looks like a secret in ${secretsText(found)}; memory keeps none`,
  );
}

function newLines(before: string, after: string): (line: number) => boolean {
  const added = new Set(
    numberedLines(lineDiff(before, after)).flatMap(({ kind, number }) => (kind === 'added' ? [number] : [])),
  );
  return (line) => added.has(line);
}
