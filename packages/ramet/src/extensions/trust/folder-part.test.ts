import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { describePart, type FolderPart, partLoads } from './folder-part.ts';

function hooks(root: string, ...commands: string[]): FolderPart {
  const value = { Stop: [{ hooks: commands.map((command) => ({ type: 'command', command })) }] };
  return { kind: 'hooks', source: join(root, '.claude/settings.json'), value };
}

test('SEC-1: what programs load is shown, and is no part of what is trusted', () => {
  const root = temporaryDirectory();
  writeFiles(root, { '.git/HEAD': '', 'x.sh': '' });
  const part = hooks(root, 'pytest -q', 'sh x.sh', 'npx prettier --write x.js', 'sh $X; pytest');
  expect(partLoads(part, root)).toEqual([
    'pytest -q (what pytest loads)',
    'npx prettier --write x.js (what prettier loads)',
  ]);
  expect(describePart(part, root).unfollowed).toEqual([
    expect.stringMatching(/^sh \$X; pytest \(because of/),
  ]);
});
