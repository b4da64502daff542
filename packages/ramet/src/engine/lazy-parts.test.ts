import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { lazyWorkspaces } from './lazy-parts.ts';

describe('what worktrees take', () => {
  test('is loaded ahead only where agents have had some, and nothing fails where there is no repository', async () => {
    const home = temporaryDirectory();
    const cwd = temporaryDirectory();
    const project = join(home, 'projects', 'example-1234');
    await using workspaces = lazyWorkspaces({ home, cwd, env: {}, settings: {}, now: () => 0 });
    expect(await workspaces.expect(project)).toBe(false);
    mkdirSync(join(home, 'worktrees', 'example-1234'), { recursive: true });
    expect(await workspaces.expect(project)).toBe(true);
  });
});
