import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { dreamRepository } from './dream-ground.ts';

test('BG-7: what git keeps for itself disproves nothing, but it is there', () => {
  const root = temporaryDirectory();
  for (const folder of ['.git', 'vendor/.git', '.github']) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, 'config'), '[core]\n');
  }
  const repository = dreamRepository(root);
  for (const path of ['.git/config', 'vendor/../.git/config', 'vendor/.git/config'])
    expect([path, repository.contains(path, 'core'), repository.has(path)]).toEqual([path, false, true]);
  expect(repository.contains('.github/config', 'core')).toBe(true);
});
