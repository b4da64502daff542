import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { expectWorkspaces } from './lazy-workspaces.ts';

describe('what worktrees take', () => {
  test('is loaded ahead only where agents have had some', async () => {
    const home = temporaryDirectory();
    const project = join(home, 'projects', 'example-1234');
    expect(await expectWorkspaces({ home, project })).toBe(false);
    mkdirSync(join(home, 'worktrees', 'example-1234'), { recursive: true });
    expect(await expectWorkspaces({ home, project })).toBe(true);
  });
});
