import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryRepository } from '../../test/fixtures/temporary.ts';
import { versionOf } from '../system/regular-file.ts';
import { committedVersion } from './provenance.ts';
import { gitText } from './run-git.ts';

const env = { PATH: process.env.PATH ?? '', HOME: '/nowhere' };

async function commit(bytes: Uint8Array): Promise<{ file: string; version: string }> {
  const cwd = temporaryRepository();
  const file = join(cwd, 'folder', 'file');
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(file, bytes);
  await gitText(['add', '.'], { cwd, env });
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  await gitText([...author, 'commit', '-q', '-m', 'file'], { cwd, env });
  return { file, version: versionOf(bytes) };
}

describe('the committed version of a file', () => {
  test('is found byte for byte, also below the top', async () => {
    const bytes = Buffer.from([0, 255, 10, 128]);
    const { file, version } = await commit(bytes);
    expect(await committedVersion(file, version, env)).toEqual(bytes);
    expect(await committedVersion(file, 'another', env)).toBeNull();
    expect(await committedVersion(`${file}-absent`, version, env)).toBeNull();
  });

  test('is that of the file’s own repository, whatever variables say', async () => {
    const { file, version } = await commit(Buffer.from('text'));
    const misleading = { ...env, GIT_DIR: '/nowhere', GIT_WORK_TREE: '/nowhere' };
    expect(await committedVersion(file, version, misleading)).not.toBeNull();
  });

  test('is not shown when it is too large', async () => {
    const { file, version } = await commit(Buffer.alloc((1 << 20) + 1));
    expect(await committedVersion(file, version, env)).toBeNull();
  });
});
