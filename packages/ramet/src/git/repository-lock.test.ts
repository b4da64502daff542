import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { withRepositoryLock } from './repository-lock.ts';

describe('WORK-4: the lock of a repository', () => {
  test('lets those of one process in one after the other, in order, also after a failure', async () => {
    const repository = { commonDirectory: temporaryDirectory() };
    const seen: string[] = [];
    const enter = (name: string): Promise<void> =>
      withRepositoryLock(repository, 'test', async () => {
        seen.push(`${name} in`);
        await Promise.resolve();
        seen.push(`${name} out`);
        if (name === 'b') throw new Error('broken');
      });
    const ends = await Promise.allSettled([enter('a'), enter('b'), enter('c')]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(seen).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  test('does not keep another purpose waiting', async () => {
    const repository = { commonDirectory: temporaryDirectory() };
    const inner = await withRepositoryLock(repository, 'one', () =>
      withRepositoryLock(repository, 'other', () => 'both'),
    );
    expect(inner).toBe('both');
  });

  test('is not waited for by what was cancelled', async () => {
    const repository = { commonDirectory: temporaryDirectory() };
    const signal = AbortSignal.abort();
    await expect(withRepositoryLock(repository, 'test', () => 'in', { signal })).rejects.toThrow();
    expect(await withRepositoryLock(repository, 'test', () => 'in')).toBe('in');
  });

  test('says where it cannot be taken', async () => {
    const commonDirectory = join(temporaryDirectory(), 'file');
    writeFileSync(commonDirectory, '');
    await expect(withRepositoryLock({ commonDirectory }, 'test', () => 'in')).rejects.toMatchObject({
      code: 'lock_unusable',
    });
  });
});
