import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../../../test/fixtures/temporary-directory.ts';
import { attachable } from './attached-files.ts';

describe('UI-3: files that a prompt names', async () => {
  test('one whose name is not UTF-8 is named with the reason, not dropped', async ({ directory }) => {
    mkdirSync(join(directory, 'sub'));
    writeFileSync(Buffer.from(`${directory}/sub/wi\xffbad.txt`, 'latin1'), 'text');
    const here = { cwd: directory, env: {} };
    expect(await attachable('look at @sub/wi\ufffdbad.txt please', here)).toEqual({
      paths: [],
      notes: [],
      problems: ['@sub/wi\ufffdbad.txt: its name is not valid UTF-8, so it cannot be attached; rename it'],
    });
    expect((await attachable('look at @sub/wi\ufffdother.txt', here)).problems).toEqual([]);
  });

  test('one that really has that sign in its name is attached', async ({ directory }) => {
    writeFileSync(join(directory, 'odd\ufffd.txt'), 'text');
    const { paths, problems } = await attachable('@odd\ufffd.txt', { cwd: directory, env: {} });
    expect({ paths, problems }).toEqual({ paths: ['odd\ufffd.txt'], problems: [] });
  });
});
