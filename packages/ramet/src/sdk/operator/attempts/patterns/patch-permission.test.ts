import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../../test/fixtures/temporary.ts';
import { parseRules, type RuleTexts } from '../../../../permission/policy.ts';
import type { SessionMode } from '../../../../schema/status.ts';
import { refusedFile } from './patch-permission.ts';

const ROOT = '/repository';

function refused(paths: string[], texts: RuleTexts = {}, mode: SessionMode = 'acceptEdits', root = ROOT) {
  const { rules } = parseRules(texts, { base: root, home: '/home/user', place: 'a test' });
  return refusedFile(paths, { policy: () => ({ mode, rules }), root });
}

describe('RES-3, OP-9: what a patch may change', () => {
  test('files of the repository, and no file that a rule denies', async () => {
    expect(await refused(['x/f1', 'x/f2'])).toBeNull();
    const deny = ['Write(x/f2)'];
    expect(await refused(['x/f1', 'x/f2'], { deny })).toMatch(/^x\/f2: .*denied/);
    expect(await refused(['x/f2'], { deny }, 'bypassPermissions')).toMatch(/^x\/f2: /);
  });

  test('no folder where a file is now, and says what to do', async () => {
    const root = temporaryDirectory();
    writeFileSync(join(root, 'a'), '');
    const refusal = await refused(['a', 'a/b'], {}, 'acceptEdits', root);
    expect(refusal).toMatch(/^a\/b: a file is in the way of a folder, .*isolation: worktree/);
  });

  test.each(['.npmrc', '.envrc', '.ramet/settings.json', '.gitattributes', '.gitmodules'])(
    '%s only where a rule allows it',
    async (path) => {
      expect(await refused(['a', path])).toMatch(/needs a permission that nobody has given.*--allowedTools/);
      expect(await refused([path], { allow: ['Write'] })).toBeNull();
    },
  );
});
