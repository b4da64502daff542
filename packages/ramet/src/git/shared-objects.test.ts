import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../../test/fixtures/temporary.ts';
import { git } from '../../test/fixtures/worktrees.ts';
import { damagedObjects } from './shared-objects.ts';

test('OP-4: a pack or an object that was closed to everybody is named, with the command that opens it', () => {
  const root = temporaryRepository({ 'a.txt': 'a\n' });
  const head = git(root, 'rev-parse', 'HEAD');
  const said = `fatal: failed to read object ${head}: Permission denied\n`;
  expect(damagedObjects(said, root)).toBeNull();
  const loose = join(root, '.git/objects', head.slice(0, 2), head.slice(2));
  chmodSync(loose, 0);
  expect(damagedObjects(said, root)).toMatchObject({
    ...{
      code: 'git_damaged',
      message: expect.stringContaining(`${loose} is closed to everybody: open it with chmod u+r ${loose}`),
    },
  });
  chmodSync(loose, 0o400);
  git(root, 'repack', '-adq');
  const [pack = ''] = readdirSync(join(root, '.git/objects/pack')).filter((name) => name.endsWith('.idx'));
  chmodSync(join(root, '.git/objects/pack', pack), 0);
  expect(damagedObjects(said, root)?.message).toContain(`/objects/pack/${pack} is closed`);
});
